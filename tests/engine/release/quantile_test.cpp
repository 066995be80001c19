// Quantiles: what they cost, what permits them, and what is known of them beforehand. Their journey to the
// audit is in statistic_journey_test.cpp.
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

}  // namespace

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

TEST_CASE("quantile release: an accuracy of several by a column is not known beforehand",
          "[engine][quantile][table][negative]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 10", kNamed);
  CHECK_THROWS_WITH(engine.forecast_of_accuracy(request("quantiles:age:0.25,0.75", "0.5", "", "ward"),
                                                {Rational(1, 20), Rational(5)}, {Rational(1, 20)}),
                    says("depends on the data; ask for them one by one"));
}
