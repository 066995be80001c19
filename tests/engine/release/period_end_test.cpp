// A reservation holds budget of one period, and ends with it.
#include <ctime>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kDay = 24 * 60 * kMinute;

std::string renewing(const std::string& period) {
  return "epsilon: 1, renew: " + period + ", accept_unbounded_lifetime: true";
}

/// A clinic with a budget of `period`, whose clock stands `before` the end of the present one.
class RenewingClinic : public WaitingClinic {
 public:
  RenewingClinic(const std::string& period, std::int64_t before, const std::string& approvals = "")
      : WaitingClinic(approvals, renewing(period)) {
    const Answer probe = engine.plan(request("count", "2"), {});
    REQUIRE(probe.recorded.reasons.size() == 1);
    end = engine::changes_at(probe.recorded.reasons[0]);
    clock.pass_seconds(seconds_to(end) - before);
  }

  /// From ledger time to an instant.
  [[nodiscard]] std::int64_t seconds_to(const std::string& instant) const {
    const std::int64_t wall = clock.options().clock().wall_ms;
    std::tm parts{};
    REQUIRE(::strptime(instant.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) != nullptr);
    return ::timegm(&parts) - wall / 1000;
  }
  /// "period spent/reserved" of each period, in order.
  [[nodiscard]] std::string periods() const {
    std::string text;
    for (const auto& account :
         ledger::Ledger::open_read_only(clinic.ledger()).snapshot().accounts("clinic")) {
      text += (text.empty() ? "" : ", ") + accounting::Epsilon::from_units(account.balance.spent).text() +
              "/" + accounting::Epsilon::from_units(account.balance.reserved).text();
    }
    return text;
  }

  std::string end;  // of the period, RFC 3339
};

}  // namespace

TEST_CASE("period: a reservation ends when the period of its budget does, of whatever kind",
          "[engine][requests][renewal]") {
  for (const char* period : {"day", "week", "month", "quarter", "year"}) {
    CAPTURE(period);
    RenewingClinic waiting(period, 7 * kMinute);
    const Answer reserved = waiting.reserve("count", "1");
    REQUIRE(text(reserved.recorded.state) == "reserved");
    CHECK(reserved.recorded.deadline == waiting.end);
    waiting.clock.pass_seconds(8 * kMinute);
    CHECK(text(waiting.commit(reserved.recorded.decision_id).recorded.state) == "expired");
    // The next period has its own budget, and no more than that.
    CHECK(release(waiting.engine, request("count", "1")).recorded.granted);
    CHECK_FALSE(release(waiting.engine, request("count", "1")).recorded.granted);
    CHECK(waiting.periods() == "0/0, 1/0");
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE("period: what may have been seen is forfeited to the period it was reserved in",
          "[engine][requests][renewal]") {
  RenewingClinic waiting("day", 7 * kMinute);
  const Answer reserved = waiting.reserve("value:score", "1");
  waiting.clock.pass_seconds(8 * kMinute);
  CHECK(text(waiting.commit(reserved.recorded.decision_id, "3").recorded.state) == "forfeited");
  CHECK(release(waiting.engine, request("count", "1")).recorded.granted);
  CHECK(waiting.periods() == "1/0, 1/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("period: a commit that is still reading when it ends releases nothing",
          "[engine][requests][renewal]") {
  // The day ends at the n-th look at the clock, wherever in the commit that is.
  std::set<std::string> ends;
  for (int n = 1; n <= 8; ++n) {
    CAPTURE(n);
    RenewingClinic waiting("day", 7 * kMinute);
    const Answer reserved = waiting.reserve("count", "1");
    int looks = 0;
    engine::EngineOptions options;
    options.clock = [&, inner = waiting.clock.options().clock] {
      if (++looks == n) waiting.clock.pass_seconds(8 * kMinute);
      return inner();
    };
    engine::Engine engine = engine::Engine::open(waiting.clinic.ledger(), options);
    const Answer ended = commit(engine, reserved.recorded.decision_id);
    const bool forfeited = text(ended.recorded.state) == "forfeited";
    ends.insert(text(ended.recorded.state));
    CHECK(waiting.periods() == (ended.recorded.granted || forfeited ? "1/0" : "0/0"));
    CHECK(ended.released.values.empty() != ended.recorded.granted);
    CHECK(waiting.audit().empty());
  }
  CHECK(ends == std::set<std::string>{"expired", "forfeited", "granted"});
}

TEST_CASE("period: a commit whose token was issued before its end is forfeited after it",
          "[engine][requests][renewal]") {
  RenewingClinic waiting("day", 7 * kMinute);
  const Answer reserved = waiting.reserve("count", "1");
  // Time passes between the token and the draw, as it does when a source is large.
  class Slow final : public mechanisms::BitSource {
    void fill(std::span<std::byte>) override { throw EntropyUnavailable("died after its token"); }
  } died;
  CHECK_THROWS_AS(waiting.engine.commit(reserved.recorded.decision_id, "alice", std::nullopt, died, {}),
                  EntropyUnavailable);
  waiting.clock.pass_seconds(8 * kMinute);
  CHECK(text(waiting.commit(reserved.recorded.decision_id).recorded.state) == "forfeited");
  CHECK(waiting.periods() == "1/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("period: an approval after midnight reserves in the new period", "[engine][approvals][renewal]") {
  RenewingClinic waiting("day", 30 * kMinute, kTwoApprovals);
  CHECK(release(waiting.engine, request("count", "0.5")).recorded.granted);
  CHECK_FALSE(release(waiting.engine, request("count", "1")).recorded.granted);
  waiting.clock.pass_seconds(31 * kMinute);
  const Answer pending = release(waiting.engine, request("count", "1"));
  REQUIRE(text(pending.recorded.state) == "pending");
  (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
  waiting.clock.pass_seconds(30 * kMinute);
  CHECK(text(waiting.engine.approve(pending.recorded.decision_id, "dave").recorded.state) == "reserved");
  CHECK(waiting.periods() == "0.5/0, 0/1");
  CHECK(waiting.audit().empty());
}

TEST_CASE("period: while the calendar is held nothing ends with it, and once confirmed it does",
          "[engine][requests][renewal][clock]") {
  // A clock that jumps: the wall clock alone, not what counts since boot.
  WaitingClinic waiting("", renewing("day"));
  auto jumped = std::make_shared<std::int64_t>(0);
  engine::EngineOptions options;
  options.clock = [inner = waiting.clock.options().clock, jumped] {
    ledger::ClockReading reading = inner();
    reading.wall_ms += *jumped;
    return reading;
  };
  engine::Engine engine = engine::Engine::open(waiting.clinic.ledger(), options);
  engine::Request asked = held(request("count", "1"));
  // Long enough that the deadline of an hour is not what ends it.
  waiting.clinic.folder.write("long.yaml",
                              clinic_policy(renewing("day"), "    reservations: {expires: 7d}\n"));
  REQUIRE(engine.apply_policy(waiting.clinic.folder.path("long.yaml"), "curator", "longer").changed);
  *jumped = 2 * kDay * 1000;
  const Answer held = engine.reserve(asked, {});
  REQUIRE(text(held.recorded.state) == "reserved");
  CHECK(held.recorded.deadline.substr(11) != "00:00:00.000Z");  // nobody knows when the period ends
  // Nor when a refusal of it will stand no more: plans, decisions and those on record say so.
  const engine::Request beyond = request("count", "0.5");
  const auto said = [](const Answer& answer) {
    REQUIRE(answer.recorded.reasons.size() == 1);
    CHECK_FALSE(engine::changes_at(answer.recorded.reasons[0]).empty());
    return engine::changes_at(answer, answer.recorded.reasons[0]).empty();
  };
  CHECK(said(engine.plan(beyond, {})));
  CHECK(said(engine.forecast(beyond, {}).each));
  CHECK(said(engine.plan_sequence().next(beyond, {})));
  const Answer refused = release(engine, beyond);
  CHECK(said(refused));
  CHECK(said(engine.show(refused.recorded.decision_id, {})));
  {
    auto ledger = ledger::Ledger::open(waiting.clinic.ledger(), {.clock = options.clock});
    auto transaction = ledger.begin();
    transaction.confirm_clock("curator");
    (void)ledger.commit(std::move(transaction));
  }
  CHECK(text(commit(engine, held.recorded.decision_id).recorded.state) == "expired");
  CHECK_FALSE(said(engine.show(refused.recorded.decision_id, {})));
  CHECK(waiting.audit().empty());
}

TEST_CASE("audit: a reservation that outlived its period is named, by rules 1 in a note",
          "[engine][audit][requests][renewal]") {
  RenewingClinic waiting("day", 7 * kMinute);
  const Answer reserved = waiting.reserve("value:score", "1");
  REQUIRE(waiting.commit(reserved.recorded.decision_id, "3").recorded.granted);
  REQUIRE(waiting.audit().empty());
  const std::string after = waiting.end.substr(0, 11) + "00:05:00.000Z";
  tamper_with_log(waiting.clinic.ledger(), "UPDATE decision SET time = " + ms_of(after) +
                                               " WHERE outcome = 1; UPDATE decision SET deadline = " +
                                               ms_of(waiting.end.substr(0, 11) + "00:53:00.000Z") +
                                               " WHERE outcome = 3");
  CHECK(waiting.audit().find("the period was over") != std::string::npos);
}
