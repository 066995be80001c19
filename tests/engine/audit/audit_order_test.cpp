// One order of decisions, policy versions and clock events: what stands at one instant is not confused.
#include "audit/tamperings.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "lived_history.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// What the clocks did before the rest. `ending`: so long that reservations are overdue after it, which end
/// in the transaction that notices.
enum class Clocked {
  forwards,
  forwards_ending,
  confirmed,
  confirmed_ending,
  at_once,
  at_once_ending,
  backwards
};
/// When somebody puts the clock back, so that ledger time stands still; never: everything at one instant.
enum class PutBack { never, before_both, between };
enum class Act { release, raise, same_limits, remove_or_add, cancel };

constexpr std::array kClocked{Clocked::forwards,         Clocked::forwards_ending, Clocked::confirmed,
                              Clocked::confirmed_ending, Clocked::at_once,         Clocked::at_once_ending,
                              Clocked::backwards};
constexpr std::array kPutBack{PutBack::never, PutBack::before_both, PutBack::between};
constexpr std::array kActs{Act::release, Act::raise, Act::same_limits, Act::remove_or_add, Act::cancel};

void clocks(LivedHistory& history, Clocked clocked) {
  const bool ending = clocked == Clocked::forwards_ending || clocked == Clocked::confirmed_ending ||
                      clocked == Clocked::at_once_ending;
  const std::int64_t jump = (ending ? 3 : 1) * kDayOfMs;
  switch (clocked) {
    case Clocked::forwards:
    case Clocked::forwards_ending:
      return history.step(jump);
    case Clocked::confirmed:
    case Clocked::confirmed_ending:
      history.step(jump);
      (void)history.release();
      return history.confirm();
    case Clocked::at_once:
    case Clocked::at_once_ending:
      history.step(jump);
      return history.confirm();
    case Clocked::backwards:
      return history.step(-kHourMs);
  }
}

void acts(LivedHistory& history, Act act, const std::string& reservation) {
  switch (act) {
    case Act::release:
      CHECK(history.release().recorded.granted);
      return;
    case Act::raise:
      ++history.policy.budget;
      (void)history.apply();
      return;
    case Act::same_limits:
      (void)history.apply();
      return;
    case Act::remove_or_add:
      history.policy.limit_of_bob = !history.policy.limit_of_bob;
      (void)history.apply();
      return;
    case Act::cancel:
      (void)history.engine().cancel(reservation, "alice");
      return;
  }
}

/// Without a fault the ledger goes on when the clock is right again, and its layer agrees.
void require_in_order(LivedHistory& history) {
  CHECK(history.audit() == "");
  const auto opened = ledger::Ledger::open_read_only(history.ledger());
  auto view = opened.snapshot();
  CHECK(ledger::Inspection(view).order_faults().empty());
}

/// One history: what the clocks did, then two acts, the clock put back somewhere or not.
void live(Clocked clocked, PutBack put_back, Act first, Act second) {
  LivedHistory history;
  (void)history.release();
  const std::string reservation = history.reserve();
  clocks(history, clocked);
  if (put_back == PutBack::before_both) history.step(-500);  // as far as a confirmation allows
  acts(history, first, reservation);
  if (put_back == PutBack::between) history.step(-2 * kHourMs);
  acts(history, second, reservation);
  CAPTURE(static_cast<int>(clocked), static_cast<int>(put_back), static_cast<int>(first),
          static_cast<int>(second));
  require_in_order(history);
}

/// `every`: all of them; otherwise a fifth, in which each act is once first and once second after everything
/// that the clocks did.
void live_all(bool every) {
  for (std::size_t clocked = 0; clocked < kClocked.size(); ++clocked) {
    for (std::size_t put_back = 0; put_back < kPutBack.size(); ++put_back) {
      for (std::size_t first = 0; first < kActs.size(); ++first) {
        for (std::size_t second = 0; second < kActs.size(); ++second) {
          if (!every && (clocked + put_back + first + second) % kActs.size() != 0) continue;
          live(kClocked[clocked], kPutBack[put_back], kActs[first], kActs[second]);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("audit: what stands at one instant, or while ledger time stands, verifies in the order it had",
          "[engine][audit][order]") {
  live_all(false);
}

TEST_CASE("audit: every pair of acts at one instant, or while ledger time stands, verifies in its order",
          "[.long][engine][audit][order]") {
  live_all(true);
}

TEST_CASE("audit: an order that was tampered with is named, and nothing ends the audit early",
          "[engine][audit][order][negative]") {
  // Decision 1, a jump, decision 2, a confirmation and policy 2 at one instant, decisions 3 and 4.
  for (const Tampering& tampering : tamperings_of("order_tamperings.tsv")) {
    LivedHistory history;
    (void)history.release();
    history.step(kDayOfMs);
    (void)history.release();
    history.confirm();
    history.policy.budget = 20;
    (void)history.apply();
    (void)history.release();
    (void)history.release();
    REQUIRE(history.audit().empty());
    tamper_with_log(history.ledger(), tampering.sql);
    const std::string faults = history.audit();
    INFO(tampering.what << ":\n" << faults);
    CHECK(faults.find(std::string(" ") + tampering.code + ":") != std::string::npos);
  }
}
