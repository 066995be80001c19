// Tables with their totals: what each margin has of the loss, what is made to add up and what is refused.
// Their journey to the audit is in statistic_journey_test.cpp.
#include "banded_clinic.hpp"
#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/table_fit.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "plan_advice.hpp"
#include "plan_intervals.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace accounting;
using namespace engine;

namespace {

const std::string kDiscrete = "    release: {default: {mechanism: discrete_laplace}}\n";
const std::string kSnapping = "    release: {default: {mechanism: snapping}}\n";

engine::Request with(engine::Request request, const Rational& share, bool consistent = false) {
  engine::with_totals(request.question, share, consistent);
  return request;
}

engine::Request totals(const std::string& statistic, const std::string& by, const std::string& epsilon) {
  return with(request(statistic, epsilon, "", by), Rational(1, 5));
}

engine::Plan planned(const std::string& more, const engine::Request& asked) {
  return engine::make_plan(engine::checked_policy(banded("epsilon: 3", more), "policy").dataset("clinic"),
                           asked);
}

}  // namespace

TEST_CASE(
    "totals: what they have together is shared equally, and nothing of the loss is lost or charged twice",
    "[engine][totals][exact]") {
  const engine::Plan plan = planned(kDiscrete, totals("count", "ward,band", "0.5"));
  std::vector<std::string> epsilons;
  for (const auto& component : plan.record.components) epsilons.push_back(component.epsilon.text());
  CHECK(epsilons == std::vector<std::string>{"0.4", "0.033333333333", "0.033333333333", "0.033333333334"});
  CHECK(plan.charged.epsilon.text() == "0.5");
  CHECK(engine::cells_drawn(plan) == std::vector<std::size_t>{6, 3, 2, 1});
  CHECK_THROWS_WITH(planned(kDiscrete, totals("count", "ward,band", "0.00000000001")),
                    says("is too small to be split over the 4 releases"));
}

TEST_CASE("totals: made consistent, cells and totals add up exactly and are the least squares of the draws",
          "[engine][totals][consistent]") {
  auto [clinic, engine] = Open<BandedClinic>("epsilon: 3", kDiscrete);
  const Answer answer =
      release(engine, with(request("count", "0.5", "k", "ward,band"), Rational(1, 5), true));
  REQUIRE(answer.recorded.granted);
  const std::vector<Rational>& values = answer.released.values;
  REQUIRE(values.size() == 12);
  for (std::size_t ward = 0; ward < 3; ++ward)
    CHECK(values[6 + ward] == values[2 * ward] + values[2 * ward + 1]);
  for (std::size_t band = 0; band < 2; ++band)
    CHECK(values[9 + band] == values[band] + values[2 + band] + values[4 + band]);
  CHECK(values[11] == values[9] + values[10]);
  std::vector<Rational> scales;
  for (const auto& component : answer.planned.record.components) scales.push_back(component.scale);
  CHECK(values ==
        accounting::fitted_table(accounting::TableMargins({3, 2}), scales, answer.released.component_values));
  CHECK(answer.planned.post_processing == PostProcessing::Kind::consistent_totals);
  CHECK(answer.released.intervals.empty());  // no alpha was asked for
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("totals: each margin has intervals by its own law, which hold together for all cells and totals",
          "[engine][totals][intervals]") {
  const Rational alpha(1, 20);
  for (const std::string& more : {kDiscrete, kSnapping}) {
    for (const char* epsilon : {"0.5", "40"}) {  // so that snapped counts are rounded, or not
      CAPTURE(more, epsilon);
      const engine::Plan plan = planned(more, totals("count", "ward,band", epsilon));
      const engine::PlanIntervals intervals(plan, std::vector<Rational>{alpha});
      std::vector<std::vector<Rational>> drawn;
      const std::vector<std::size_t> cells = engine::cells_drawn(plan);
      for (std::size_t part = 0; part < cells.size(); ++part) {
        const auto& component = plan.record.components[part];
        const Rational origin = component.centre.value_or(0);
        drawn.emplace_back();
        for (std::size_t cell = 0; cell < cells[part]; ++cell)
          drawn.back().push_back(origin + component.grid * Rational(static_cast<long>(cell) - 1));
      }
      const std::vector<Rational> values =
          ledger::released_values(plan.record, plan.derivation.post_processing, drawn);
      const auto told = intervals.of(drawn, values);
      REQUIRE(told.size() == 1);
      const auto by_law = [&](const Rational& at) {
        std::vector<mechanisms::AnswerInterval> expected;
        std::size_t first = 0;
        for (std::size_t part = 0; part < cells.size(); first += cells[part++]) {
          const auto shown =
              engine::shows_whole(plan, part) ? mechanisms::Shown::rounded : mechanisms::Shown::as_released;
          const auto law = plan.mechanisms[part].intervals(at, shown);
          for (std::size_t cell = 0; cell < cells[part]; ++cell) {
            auto one = law->of_each(std::vector<Rational>{values[first + cell]}).front();
            const Rational low = accounting::ceil(one.low), high = accounting::floor(one.high);
            if (low <= high) one = {low, high};
            expected.push_back(one);
          }
        }
        return expected;
      };
      const auto same = [](const auto& one, const auto& other) {
        return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                          [](const auto& a, const auto& b) { return a.low == b.low && a.high == b.high; });
      };
      CHECK(told[0].each.size() == 12);
      CHECK(same(told[0].each, by_law(alpha)));
      CHECK(same(told[0].together, by_law(mechanisms::simultaneous_alpha_down(alpha, 12))));
    }
  }
}

TEST_CASE("totals: snapping cuts none of them off, rounds where its grid is below 1, and no bound is taken",
          "[engine][totals][snapping]") {
  const auto with_probability = [](const char* beta) {
    return std::string("    release: {default: {mechanism: snapping, binding_probability: ") + beta + "}}\n";
  };
  // 10^-9 for all twelve draws, and of one column for all four.
  const engine::Plan two = planned(kSnapping, totals("count", "ward,band", "0.5"));
  CHECK(*two.record.components[0].bound ==
        *planned(with_probability("1/12000000000"), request("count", "0.4", "", "ward"))
             .record.components[0]
             .bound);
  const engine::Plan one = planned(kSnapping, totals("count", "ward", "0.5"));
  CHECK(*one.record.components[0].bound ==
        *planned(with_probability("1/4000000000"), request("count", "0.4", "", "ward"))
             .record.components[0]
             .bound);
  CHECK(*one.record.components[1].bound ==
        *planned(with_probability("1/4000000000"), request("count", "0.1")).record.components[0].bound);
  CHECK(Rational(*one.record.components[1].centre - *one.record.components[1].bound) < -400);
  const std::string bounded = "    release: {count: {mechanism: snapping, bound: 60000}}\n";
  CHECK_THROWS_WITH(planned(bounded, totals("count", "ward", "0.5")),
                    says("with totals: sums of its cells would go astray; declare `binding_probability`"));
  CHECK_NOTHROW(planned(bounded, request("count", "0.5", "", "ward")));

  const engine::Plan coarse = planned(kSnapping, totals("count", "ward", "0.5"));
  CHECK(coarse.derivation.post_processing.kind == PostProcessing::Kind::totals);
  // The cells are snapped to less than 1, their total is not.
  const engine::Plan mixed = planned(kSnapping, with(request("count", "40", "", "ward"), Rational(1, 100)));
  REQUIRE(mixed.record.components[0].grid < 1);
  REQUIRE(mixed.record.components[1].grid >= 1);
  CHECK(mixed.derivation.post_processing.kind == PostProcessing::Kind::whole_totals);
  CHECK(engine::shows_whole(mixed, 0));
  CHECK_FALSE(engine::shows_whole(mixed, 1));
  const Rational half = mixed.record.components[0].grid / 2;
  const Rational least = *mixed.record.components[0].centre - *mixed.record.components[0].bound;
  const Rational total = *mixed.record.components[1].centre + mixed.record.components[1].grid;
  CHECK(ledger::released_values(mixed.record, mixed.derivation.post_processing,
                                {{Rational(5, 2), Rational(7) - half, least}, {total}}) ==
        std::vector<Rational>{3, 7, accounting::ceil(least), total});
  // What is made consistent is made of the draws.
  const engine::Plan fitted =
      planned(kSnapping, with(request("count", "40", "", "ward"), Rational(1, 100), true));
  CHECK(fitted.derivation.post_processing.kind == PostProcessing::Kind::consistent_totals);
}

TEST_CASE("totals: what has none, or adds up to none, is refused and told what to ask",
          "[engine][totals][refused]") {
  const auto refuses = [](const char* statistic, const char* by, const Rational& share, bool consistent,
                          const char* why) {
    CAPTURE(statistic, by);
    engine::Question asked = engine::parse_question(
        statistic, std::string(by).empty() ? std::nullopt : std::optional<std::string>(by), std::nullopt);
    CHECK_THROWS_WITH(engine::with_totals(asked, share, consistent), says(why));
    CHECK_FALSE(asked.totals);
    CHECK_FALSE(asked.consistent);
  };
  const Rational fifth(1, 5);
  refuses("count", "", fifth, false, "totals: are of the cells of an answer: group it by a column");
  refuses("count", "ward", 0, false, "totals: must lie strictly between 0 and 1");
  refuses("count", "ward", 1, false, "totals: must lie strictly between 0 and 1");
  refuses("count", "ward", accounting::power_of_ten(-40), false, "totals: is longer than 40 characters");
  for (const char* statistic :
       {"mean:age", "variance:age", "median:age", "distinct:ward", "proportion:ward:A", "ratio:age,cost"})
    refuses(statistic, "band", fifth, false, "by fewer columns, and by none, as further rows of a batch");
  refuses("quantiles:age:0.1,0.9", "", fifth, false, "totals: are of the cells of an answer");
  refuses("units", "ward", fifth, true, "cells of 'units' add up to no total");
}

TEST_CASE("totals: a stored question that asks for none that there are is not read",
          "[engine][totals][negative]") {
  const auto read = [](const std::string& members) {
    return engine::parse_stored_request(R"({"by":"ward","dataset":"clinic","epsilon":"1",)" + members + "}")
        .request;
  };
  CHECK(read(R"("consistent":true,"statistic":"count","totals":"0.2")").question.consistent);
  CHECK(read(R"("statistic":"units","totals":"1/3")").question.totals == Rational(1, 3));
  for (const char* members :
       {R"("consistent":false,"statistic":"count","totals":"0.2")",
        R"("consistent":true,"statistic":"count")", R"("consistent":true,"statistic":"units","totals":"0.2")",
        R"("consistent":true,"statistic":"count","suppress_below":"5","totals":"0.2")",
        R"("statistic":"count","totals":"1")", R"("statistic":"count","totals":0.2)",
        R"("statistic":"mean:age","totals":"0.2")"}) {
    CAPTURE(members);
    CHECK_THROWS_AS(read(members), LedgerCorrupt);
  }
}

TEST_CASE("totals: what was recorded of a table that adds up is held to its draws and to its leaf",
          "[engine][totals][G3]") {
  const auto damaged = [](const std::string& sql) {
    const BandedClinic clinic("epsilon: 3", kDiscrete);
    Answer answer;
    {
      Engine engine = clinic.open();
      answer = release(engine, with(request("count", "0.5", "k", "ward"), Rational(1, 5), true));
    }
    tamper(clinic.ledger(), sql);
    CHECK_FALSE(engine::audit_verify(clinic.ledger()).faults.empty());
    (void)clinic.open().show(answer.recorded.decision_id, {});
  };
  CHECK_THROWS_AS(damaged(R"(UPDATE decision SET "values" = '["1","1","1","3"]')"), LedgerCorrupt);
  CHECK_THROWS_AS(damaged(R"(UPDATE decision SET component_values = '[["1","1","1"]]')"), LedgerCorrupt);
  CHECK_THROWS_AS(damaged(R"(UPDATE decision SET component_values = '[["1","1","1"],["9"]]')"),
                  LedgerCorrupt);
}

TEST_CASE("totals: a plan of a large table without them says what they would bring",
          "[engine][totals][plan]") {
  std::string values;
  for (int i = 0; i < 40; ++i) values += (i == 0 ? "" : ", ") + std::to_string(i);
  std::string text = clinic_policy("epsilon: 3", kDiscrete);
  text.insert(text.find("    queries:"), "      a: {type: int, values: [" + values +
                                             "]}\n      b: {type: int, values: [" + values + "]}\n");
  const engine::Policy policy = engine::checked_policy(text, "policy.yaml");
  const engine::Dataset& dataset = policy.dataset("clinic");
  const auto advice = [&](const engine::Request& asked) {
    return engine::plan_advice(dataset, asked, engine::make_plan(dataset, asked), {});
  };
  const std::vector<std::string> large = advice(request("count", "0.5", "", "a,b"));
  REQUIRE(large.size() == 1);
  CHECK_THAT(large.front(),
             says("a total summed from its 1600 cells deviates about 40 times what a cell does"));
  CHECK_THAT(large.front(), says("with --totals 0.2 the grand total is within"));
  CHECK(advice(with(request("count", "0.5", "", "a,b"), Rational(9, 10))).empty());
  CHECK(advice(request("count", "0.5", "", "ward,a")).empty());  // 120 cells are not enough for it
  CHECK(advice(request("units", "0.5", "", "a,b")).empty());     // which add up to no total
  CHECK(advice(request("count", "0.5", "", "a")).empty());
}

TEST_CASE("totals: a plan names those that err more than their cells added, and only those",
          "[engine][totals][plan]") {
  const engine::Policy policy = engine::checked_policy(banded("epsilon: 3", kDiscrete), "policy.yaml");
  const engine::Dataset& dataset = policy.dataset("clinic");
  const auto of = [&](const char* statistic, const Rational& share, bool consistent = false) {
    const engine::Request asked = with(request(statistic, "1", "", "ward,band"), share, consistent);
    const auto advice = engine::plan_advice(dataset, asked, engine::make_plan(dataset, asked), {});
    return advice.empty() ? "" : advice.front();
  };
  CHECK(of("count", Rational(3, 10)) ==
        "with --totals 0.3 totals err more than their cells added: by ward within 90, 2 cells added about "
        "18.3; "
        "by band within 90, 3 cells added about 22.5; in all within 90, 6 cells added about 31.8; without "
        "--totals each cell is within 9");
  // Noise of scales 3/s and 1/(1-s): k cells added have less variance while 9(1-s)² > k·s².
  for (int tenths = 1; tenths < 10; ++tenths) {
    const Rational share(tenths, 10);
    CAPTURE(tenths);
    const std::string text = of("sum:age", share);
    CHECK((text.find("; without --totals") != std::string::npos) ==
          (9 * (1 - share) * (1 - share) > 6 * share * share));
    for (const auto& [margin, cells] : {std::pair{"by ward", 2}, {"by band", 3}, {"in all", 6}}) {
      const bool worse = 9 * (1 - share) * (1 - share) > cells * share * share;
      CHECK((text.find(margin) != std::string::npos) == worse);
    }
    CHECK(of("sum:age", share, true).empty());
    CHECK(of("units", share).empty());
  }
}
