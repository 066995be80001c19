// What is overdue counts as ended, for whoever asks and whoever plans, before anybody has ended it.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr std::int64_t kHour = 3600;

/// What each account holds, as told with an answer: "spent/reserved".
std::string told(const Answer& answer) {
  const ledger::AccountState& account = answer.recorded.accounts.at(0);
  return accounting::Epsilon::from_units(account.balance.spent).text() + "/" +
         accounting::Epsilon::from_units(account.balance.reserved).text();
}

}  // namespace

TEST_CASE("overdue: a request answers that it expired, whatever else is wrong with the call",
          "[engine][requests][overdue]") {
  const auto state_after = [](ReservationKind reservation, const std::string& statistic, const auto& call) {
    WaitingClinic waiting;
    const Answer reserved = waiting.reserve(statistic, "0.25", reservation);
    CHECK_THROWS(call(waiting, reserved.recorded.decision_id));  // while it waits, it is a mistake
    waiting.clock.pass_seconds(kHour);                           // the deadline itself is too late
    const std::string state = text(call(waiting, reserved.recorded.decision_id).recorded.state);
    CHECK(decisions(waiting.engine) == 2);
    CHECK(text(call(waiting, reserved.recorded.decision_id).recorded.state) == state);  // and stays so
    CHECK(decisions(waiting.engine) == 2);
    CHECK(waiting.audit().empty());
    return state;
  };
  const auto commit = [](const std::optional<std::string>& value) {
    return [value](WaitingClinic& waiting, const std::string& id) { return waiting.commit(id, value); };
  };
  const auto token = [](WaitingClinic& waiting, const std::string& id) {
    return waiting.engine.issue_token(id, "alice");
  };
  CHECK(state_after(ReservationKind::reserved, "count", commit("3")) == "expired");
  CHECK(state_after(ReservationKind::reserved, "value:score", commit(std::nullopt)) == "forfeited");
  CHECK(state_after(ReservationKind::reserved_against_token, "value:score", commit("3")) == "expired");
  CHECK(state_after(ReservationKind::reserved, "count", token) == "expired");
  CHECK(state_after(ReservationKind::reserved, "count", [](WaitingClinic& waiting, const std::string& id) {
          std::filesystem::remove(waiting.clinic.folder.path("visits.csv"));
          return waiting.commit(id);
        }) == "expired");
}

TEST_CASE("overdue: who may not touch a request is told so, and ends nothing",
          "[engine][requests][overdue][negative]") {
  WaitingClinic waiting;
  const std::string id = waiting.reserve("count", "0.25").recorded.decision_id;
  waiting.clock.pass_seconds(2 * kHour);
  CHECK_THROWS_AS(waiting.commit(id, {}, "bob"), engine::NotPermitted);
  CHECK_THROWS_AS(waiting.engine.issue_token(id, "bob"), engine::NotPermitted);
  CHECK(decisions(waiting.engine) == 1);
}

TEST_CASE("overdue: plans and forecasts show what a release would do", "[engine][requests][overdue]") {
  WaitingClinic waiting("", "epsilon: 1");
  REQUIRE(text(waiting.reserve("count", "0.5").recorded.state) == "reserved");
  REQUIRE(text(waiting.reserve("value:score", "0.25").recorded.state) == "reserved");
  const engine::Request asked = request("count", "0.75");
  CHECK_FALSE(waiting.engine.plan(asked, {}).recorded.granted);
  waiting.clock.pass_seconds(2 * kHour);

  const Answer plan = waiting.engine.plan(asked, {});
  CHECK(plan.recorded.granted);
  CHECK(told(plan) == "0.25/0");  // who reserved a value may have seen it
  const engine::Forecast forecast = waiting.engine.forecast(request("count", "0.25"), {});
  CHECK(forecast.releases == 3);
  auto sequence = waiting.engine.plan_sequence();
  CHECK(sequence.next(asked, {}).recorded.granted);
  CHECK_FALSE(sequence.next(asked, {}).recorded.granted);
  CHECK_FALSE(waiting.engine.plan(request("count", "0.8"), {}).recorded.granted);

  CHECK(decisions(waiting.engine) == 2);  // nothing was recorded,
  CHECK(waiting.balance() == "0/0.75");  // and `budget` shows what is on record
  const Answer granted = release(waiting.engine, asked);
  CHECK(granted.recorded.granted);
  CHECK(told(granted) == "1/0");
  CHECK(waiting.audit().empty());
}
