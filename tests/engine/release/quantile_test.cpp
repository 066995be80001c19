// Quantiles from the question to the audit: what is selected, charged, recorded, replayed and found wrong.
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/forecast.hpp"
#include "plan.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

const std::string kNamed = "    allow: {statistics: [count, sum, value, quantile]}\n";

/// Where the data decide: no other value is selected with a probability above 1e-100.
const std::string kBeyondDoubt = "1000";

}  // namespace

TEST_CASE("quantile release: beyond all doubt it is that of the rows that are kept",
          "[engine][quantile][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 100000", kNamed);
  // Ages 34 34 71 55 18, one missing; costs 120.50 80.00 4000.25 99.99 5000 12.00.
  CHECK(release(engine, request("median:age", kBeyondDoubt)).released.values == std::vector<Rational>{34});
  CHECK(release(engine, request("quantile:cost:0.9", kBeyondDoubt)).released.values ==
        std::vector<Rational>{5000});
  const Answer several = release(engine, request("quantiles:age:0.1,0.5,0.7", "10000"));
  CHECK(several.released.values == std::vector<Rational>{18, 34, 55});
  CHECK(several.planned.record.cells.lists() == std::vector<std::vector<std::string>>{{"0.1", "0.5", "0.7"}});
  const Answer by = release(engine, request("quantile:age:0.6", "10000", "", "ward"));
  CHECK(by.planned.record.cells.lists() == std::vector<std::vector<std::string>>{{"A", "B", "C"}});
  REQUIRE(by.released.values.size() == 3);
  CHECK(by.released.values[0] == 34);
  CHECK(by.released.values[1] == 55);
  CHECK(by.released.values[2] >= 0);
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("quantile release: what is recorded is what was proved, and a retry is free",
          "[engine][quantile][G5]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", kNamed);
  const Answer answer = release(engine, request("quantiles:age:0.25,0.5,0.75", "0.6", "monday"));
  REQUIRE(answer.recorded.granted);
  const ledger::ReleaseRecord& record = answer.planned.record;
  CHECK(record.mechanism == "permute_and_flip");
  CHECK(record.arithmetic == "exact");
  CHECK(record.charged.text() == "0.6");
  CHECK(record.adjusted == Rational(3, 5));
  REQUIRE(record.components.size() == 1);
  const ledger::ComponentRecord& component = record.components[0];
  CHECK(component.statistic == "quantile");
  CHECK(component.sensitivity == Rational(3, 2));  // k max(1/2, 1/2)
  CHECK(component.scale == 10);                    // 2 D levels / epsilon
  CHECK(component.grid == 1);
  CHECK_FALSE(component.rho.has_value());
  CHECK_FALSE(component.bound.has_value());
  CHECK(spent(engine) == "0.6");
  const Answer again = release(engine, request("quantiles:age:0.25,1/2,0.750", "0.6", "monday"));
  CHECK(again.recorded.replayed);
  CHECK(again.released.values == answer.released.values);
  CHECK(spent(engine) == "0.6");
  engine.history("", 0, [&](const Answer& told) {
    CHECK(told.asked.statistic == "quantiles:age:0.25,0.5,0.75");
    CHECK(told.released.values == answer.released.values);
  });
}

TEST_CASE("quantile release: several by a column are each cell's own, and are recorded as they were asked",
          "[engine][quantile][table][G5]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 100000", kNamed);
  // Ages 34 71 18 in A, 34 55 in B, one missing in C.
  const Answer by = release(engine, request("quantiles:age:0.2,0.6,0.9", "20000", "monday", "ward"));
  REQUIRE(by.recorded.granted);
  const ledger::ReleaseRecord& record = by.planned.record;
  CHECK(record.cells.lists() ==
        std::vector<std::vector<std::string>>{{"A", "B", "C"}, {"0.2", "0.6", "0.9"}});
  CHECK(record.cells.keys_of(5) == std::vector<std::optional<std::string>>{"B", "0.9"});
  const std::vector<Rational>& values = by.released.values;
  REQUIRE(values.size() == 9);
  CHECK(std::vector<Rational>(values.begin(), values.begin() + 5) ==
        std::vector<Rational>{18, 34, 71, 34, 55});
  CHECK(values[5] >= 55);  // what lies above the second is no row, and any value
  CHECK((values[6] <= values[7] && values[7] <= values[8]));
  REQUIRE(record.components.size() == 1);
  CHECK(record.components[0].sensitivity ==
        Rational(9, 4));  // k max(3/4, 1/4), of the third among what is left
  CHECK(record.components[0].scale == 2 * Rational(9, 4) * 2 / 20000);
  CHECK(record.components[0].coordinates == 3);
  CHECK(by.planned.accuracy.size() == 3);
  CHECK(spent(engine) == "20000");
  Engine other = clinic.open();
  const Answer again = release(other, request("quantiles:age:1/5,0.60,0.9", "20000", "monday", "ward"));
  CHECK(again.recorded.replayed);
  CHECK(again.released.values == values);
  CHECK(again.planned.record == record);
  CHECK(other.show(by.recorded.decision_id, {}).planned.record.cells == record.cells);
  // Without the column, or of other quantiles, it is another question.
  for (const engine::Request& asked : {request("quantiles:age:0.2,0.6,0.9", "20000", "monday"),
                                       request("quantiles:age:0.2,0.6", "20000", "monday", "ward")})
    CHECK(reason_codes(release(other, asked)) == std::vector{RefusalCode::key_conflict});
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("quantile release: several by columns wait, are rows of a batch and are replayed like any answer",
          "[engine][quantile][table][batch][reservations]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 10", kNamed);
  engine::Request kept = held(request("quantiles:cost:0.25,0.75", "0.5", "a", "ward"));
  const Answer waits = engine.reserve(kept, {});
  REQUIRE(waits.recorded.state == engine::RequestState::reserved);
  const Answer committed = commit(engine, waits.recorded.decision_id);
  REQUIRE(committed.recorded.granted);
  CHECK(committed.released.values.size() == 6);
  engine::Request rows;
  rows.dataset = "clinic";
  rows.principal = "alice";
  for (const engine::Request& row :
       {request("quantiles:age:0.25,0.75", "0.5", "", "ward"), request("count", "0.25")})
    rows.rows.push_back({row.question, row.epsilon, row.delta, row.rho});
  const Answer batch = release(engine, rows);
  REQUIRE(batch.recorded.granted);
  CHECK(batch.rows[0].released.values.size() == 6);
  CHECK(batch.rows[0].planned.record.cells.lists().back() == std::vector<std::string>{"0.25", "0.75"});
  CHECK(batch.rows[1].released.values.size() == 1);
  CHECK(spent(engine) == "1.25");
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
  const auto without_accuracy = [&] {
    return engine.forecast_of_accuracy(request("quantiles:age:0.25,0.75", "0.5", "", "ward"),
                                       {Rational(1, 20), Rational(5)}, {Rational(1, 20)});
  };
  CHECK_THROWS_WITH(without_accuracy(), says("depends on the data; ask for them one by one"));
}

TEST_CASE("quantile release: who counts in rho or Renyi orders pays an eighth of the square of epsilon",
          "[engine][quantile][exact]") {
  const auto record = [](const Clinic& clinic, const char* statistic) {
    Engine engine = clinic.open();
    const Answer answer = release(engine, request(statistic, "0.4"));
    REQUIRE(answer.recorded.granted);
    CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
    return std::pair(answer.planned.record, spent_units(engine, "rho"));
  };
  const Clinic counted("measure: zcdp, rho: 1", kNamed);
  const auto [one, rho_of_one] = record(counted, "median:age");
  CHECK(one.mechanism == "exponential");
  CHECK(one.components[0].rho == std::optional(Rational(1, 50)));
  CHECK(rho_of_one == 20'000'000'000'000);
  const Clinic again("measure: zcdp, rho: 1", kNamed);
  const auto [three, rho_of_three] = record(again, "quantiles:age:0.25,0.5,0.75");
  CHECK(rho_of_three == 10'000'000'000'000);  // two levels
  const Clinic forced("measure: zcdp, rho: 1",
                      kNamed + "    release: {quantile: {mechanism: permute_and_flip}}\n");
  const auto [chosen, rho_of_chosen] = record(forced, "median:age");
  CHECK(chosen.mechanism == "permute_and_flip");
  CHECK(rho_of_chosen == 80'000'000'000'000);
  const Clinic orders("measure: rdp, orders: {8: 3}", kNamed);
  CHECK(record(orders, "median:age").first.mechanism == "exponential");
  // A limit of one asker is enough: what a question is answered by is the same for all.
  auto [limited, engine] =
      Open<Clinic>("epsilon: 3", "    limits: [{each: purpose, measure: zcdp, rho: 1}]\n" + kNamed +
                                     "    purposes: [planning]\n");
  engine::Request stated = request("median:age", "0.4");
  stated.purpose = "planning";
  CHECK(release(engine, stated).planned.record.mechanism == "exponential");
}

TEST_CASE("quantile release: no default mechanism is inherited", "[engine][quantile][exact]") {
  auto [clinic, engine] =
      Open<Clinic>("epsilon: 3, delta: 1e-6", kNamed + "    release: {default: {mechanism: gaussian}}\n");
  CHECK(release(engine, request("median:age", "0.4")).planned.record.mechanism == "permute_and_flip");
  engine::Request with_delta = request("median:age", "0.4");
  with_delta.delta = accounting::parse_rational("1e-7", "delta");
  CHECK_THROWS_WITH(
      release(engine, with_delta),
      "delta: 'quantile:age:0.5' is released by permute_and_flip, which loses epsilon only; leave "
      "--delta out");
  engine::Request in_rho = request("median:age", "0");
  in_rho.rho = accounting::parse_rational("0.1", "rho");
  CHECK_THROWS_WITH(release(engine, in_rho),
                    says("is released by permute_and_flip, which loses epsilon; give --epsilon"));
}

TEST_CASE("quantile release: a policy that does not name quantiles permits none",
          "[engine][quantile][negative]") {
  auto [silent, engine] = Open<Clinic>("epsilon: 3");
  const Answer refused = release(engine, request("median:age", "0.1"));
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].code == RefusalCode::statistic_not_allowed);
  CHECK(refused.recorded.reasons[0].message ==
        "statistic 'quantile' is not among the statistics that 'clinic' allows; it is asked only where "
        "`allow.statistics` names it");
  CHECK(spent(engine) == "0");
  CHECK(engine::audit_verify(silent.ledger()).faults.empty());
}

TEST_CASE("quantile release: ranks are bounded beforehand, and the least epsilon for a bound is found",
          "[engine][quantile][forecast]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 50", kNamed);
  const Rational alpha(1, 20);
  const Answer planned = engine.plan(request("median:age", "0.5"), {alpha});
  REQUIRE(planned.planned.accuracy.size() == 1);
  REQUIRE(planned.planned.accuracy[0].size() == 1);
  const Rational a = planned.planned.accuracy[0][0].a;
  CHECK(a > 0);
  CHECK(planned.planned.accuracy[0][0].ties.rational() == 0);
  const auto forecast = engine.forecast_of_accuracy(request("median:age", "0.5"), {alpha, a}, {alpha});
  REQUIRE(forecast.has_value());
  CHECK(forecast->epsilon <= Rational(1, 2));
  CHECK(forecast->each.planned.accuracy[0][0].a.rational() <= a);
  const Answer several = engine.plan(request("quantiles:age:0.25,0.5,0.75", "0.5"), {alpha});
  REQUIRE(several.planned.accuracy.size() == 3);
  CHECK(several.planned.accuracy[1][0].ties.rational() == 0);
  CHECK(several.planned.accuracy[0][0].ties.rational() > 0);
  CHECK_THROWS_WITH(
      engine.forecast_of_accuracy(request("quantiles:age:0.25,0.75", "0.5"), {alpha, a}, {alpha}),
      says("depends on the data; ask for them one by one"));
  // What no bound is known for is told of no bound, after a charge as before it.
  const Answer tiny = engine.plan(request("median:age", "0.5"), {accounting::power_of_two(-1025), alpha});
  CHECK(tiny.planned.accuracy[0].size() == 1);
}

TEST_CASE(
    "quantile release: those of one call select among so many candidates, whether they are rows or several",
    "[engine][quantile][batch]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 50", kNamed);
  // Half a million of cents each.
  const auto asked = [](std::size_t rows, const char* last) {
    std::vector<engine::Request> requests(rows, request("median:cost", "0.1"));
    requests.push_back(request(last, "0.1"));
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i].key = "k" + std::to_string(i);
    return requests;
  };
  const auto together = [](const std::vector<engine::Request>& requests) {
    engine::Request batch = request("count", "1");
    batch.question = {};
    batch.epsilon = Rational(0);
    for (const engine::Request& one : requests) batch.rows.push_back({one.question, one.epsilon});
    return batch;
  };
  const auto too_many = says("select among 32000064 values, more than 32000000");
  CHECK(engine.plan(together(asked(63, "count")), {}).recorded.granted);
  CHECK_THROWS_WITH(engine.plan(together(asked(63, "median:cost")), {}), too_many);
  mechanisms::SystemBits bits;
  CHECK_THROWS_WITH(engine.release(together(asked(63, "median:cost")), bits, {}), too_many);
  CHECK_THROWS_WITH(release_many(engine, asked(63, "median:cost")), too_many);
  CHECK(engine.budget("clinic").at(0).balance.spent == 0);
  // What each needs alone counts; retries need nothing.
  const std::vector<engine::Request> few{request("median:cost", "0.1", "a"),
                                         request("median:age", "0.1", "b")};
  const std::vector<Answer> first = release_many(engine, few);
  std::vector<engine::Request> many(63, request("median:cost", "0.1", "a"));
  many.push_back(request("median:cost", "0.1", "a"));
  CHECK(release_many(engine, many).back().recorded.decision_id == first[0].recorded.decision_id);
}

TEST_CASE("quantile release: a value that no quantile can have is found", "[engine][quantile][audit][G6]") {
  const Clinic clinic("epsilon: 3", kNamed);
  const engine::Policy policy = engine::checked_policy(clinic_policy("epsilon: 3", kNamed), "p.yaml");
  const engine::Dataset& dataset = policy.datasets()[0];
  const auto plan = [&](const char* statistic) {
    return engine::make_plan(dataset, request(statistic, "0.5"));
  };
  CHECK(plan("median:age").mechanisms[0].can_release(110));
  CHECK_FALSE(plan("median:age").mechanisms[0].can_release(111));
  CHECK_FALSE(plan("median:age").mechanisms[0].can_release(Rational(1, 2)));
  CHECK(plan("median:cost").mechanisms[0].can_release(Rational(1, 100)));
  CHECK_FALSE(plan("median:cost").mechanisms[0].can_release(Rational(1, 1000)));
}
