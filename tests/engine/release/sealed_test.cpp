// Requests that wait when the ledger is sealed: nothing becomes of them there, and all of it where it goes
// on.
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;

namespace {

constexpr std::int64_t kMonths = 200LL * 24 * 3600;

/// A request that waits for approvals and a reservation, in a ledger that is sealed then.
struct SealedClinic : WaitingClinic {
  SealedClinic() {
    pending = release(engine, request("count", "0.75", "waits")).recorded.decision_id;
    reserved = reserve("count", "0.25").recorded.decision_id;
    told = release(engine, request("count", "0.125", "told"));
    CHECK(ledger::Ledger::seal(clinic.ledger(), "carol", "moves", clock.options().ledger_options()).changed);
  }
  [[nodiscard]] std::string state_of(const std::string& id) const {
    return text(engine.show(id, {}).recorded.state);
  }
  /// The engine of the ledger where it goes on.
  [[nodiscard]] Engine goes_on() const {
    const std::string next = clinic.ledger() + "-next";
    static_cast<void>(ledger::Ledger::restore(next, clinic.ledger(), {.by = "dave", .sealed = true},
                                              clock.options().ledger_options()));
    return Engine::open(next, clock.options());
  }

  std::string pending;
  std::string reserved;
  Answer told;
};

}  // namespace

TEST_CASE("sealed ledger: no act changes what waits, whether or not its time is over", "[engine][seal]") {
  SealedClinic sealed;
  const bool overdue = GENERATE(false, true);
  CAPTURE(overdue);
  if (overdue) sealed.clock.pass_seconds(kMonths);
  const std::string pending = sealed.state_of(sealed.pending);
  const std::string reserved = sealed.state_of(sealed.reserved);
  const std::string balance = sealed.balance();
  Engine& engine = sealed.engine;
  const std::vector<std::pair<const char*, std::function<void()>>> acts = {
      {"release", [&] { (void)release(engine, request("count", "0.125")); }},
      {"a request that waits", [&] { (void)release(engine, request("count", "0.75")); }},
      {"reserve", [&] { (void)sealed.reserve("count", "0.125"); }},
      {"commit", [&] { (void)sealed.commit(sealed.reserved); }},
      {"approve", [&] { (void)engine.approve(sealed.pending, "carol"); }},
      {"reject", [&] { (void)engine.reject(sealed.pending, "carol", "no"); }},
      {"cancel", [&] { (void)engine.cancel(sealed.reserved, "alice"); }}};
  for (const auto& [name, act] : acts) {
    CAPTURE(name);
    CHECK_THROWS_AS(act(), ledger::LedgerSealed);
  }
  CHECK(sealed.state_of(sealed.pending) == pending);
  CHECK(sealed.state_of(sealed.reserved) == reserved);
  CHECK(sealed.balance() == balance);
  const Answer again = release(engine, request("count", "0.125", "told"));
  CHECK(again.recorded.replayed);
  CHECK(again.released.values == sealed.told.released.values);
  CHECK(sealed.audit().empty());
}

TEST_CASE("sealed ledger: what waited is decided where the ledger goes on", "[engine][seal]") {
  SealedClinic sealed;
  Engine next = sealed.goes_on();
  CHECK(next.ledger_id() == sealed.engine.ledger_id());
  static_cast<void>(next.approve(sealed.pending, "carol"));
  static_cast<void>(next.approve(sealed.pending, "dave"));
  CHECK(commit(next, sealed.reserved).recorded.granted);
  CHECK(release(next, request("count", "0.125", "told")).released.values == sealed.told.released.values);
  CHECK(engine::audit_verify(sealed.clinic.ledger() + "-next").faults.empty());
}

TEST_CASE("sealed ledger: what waited is over where the ledger goes on months later", "[engine][seal]") {
  SealedClinic sealed;
  sealed.clock.pass_seconds(kMonths);
  Engine next = sealed.goes_on();
  CHECK(release(next, request("count", "0.125")).recorded.granted);
  CHECK(text(next.show(sealed.pending, {}).recorded.state) == "expired");
  CHECK(text(next.show(sealed.reserved, {}).recorded.state) == "expired");
  CHECK(engine::audit_verify(sealed.clinic.ledger() + "-next").faults.empty());
}
