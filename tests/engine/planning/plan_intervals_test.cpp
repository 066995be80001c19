// Intervals as a plan tells them: which answers have them, on which lattice, and that they cover what the
// policy makes of the rows. The law itself is held in tests/mechanisms/answer_interval_test.cpp.
#include "plan_intervals.hpp"

#include <cmath>
#include <functional>

#include "clinic.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "plan.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;
using accounting::PostProcessing;
using accounting::Rational;
using mechanisms::AnswerInterval;

namespace {

Plan planned(const std::string& more, const Request& asked, ledger::Rules rules = ledger::kRules) {
  const std::string policy = clinic_policy("measure: approximate, epsilon: 1000, delta: 0.1", more);
  return make_plan(checked_policy(policy, "policy").dataset("clinic"), asked, rules);
}

bool within(const AnswerInterval& interval, const Rational& low, const Rational& high) {
  return low <= interval.low && interval.low <= interval.high && interval.high <= high;
}

const std::vector<Rational>& alphas() {
  static const std::vector<Rational> values{Rational(1, 20), Rational(1, 100)};
  return values;
}

}  // namespace

TEST_CASE("plan intervals: what is drawn once has them at each alpha, and within its public range",
          "[engine][intervals]") {
  for (const char* statistic : {"count", "units", "sum:age", "sum:cost", "value:score"}) {
    CAPTURE(statistic);
    const Plan plan = planned("", request(statistic, "2"));
    const PlanIntervals intervals(plan, alphas());
    const std::vector<CellIntervals> told = intervals.of({{4}}, std::vector<Rational>{4});
    REQUIRE(told.size() == 2);
    CHECK((told[0].alpha == Rational(1, 20) && told[1].alpha == Rational(1, 100)));
    const Component& component = plan.derivation.components.front();
    for (const CellIntervals& one : told) {
      REQUIRE(one.each.size() == 1);
      CHECK(one.together.empty());  // one answer is all there is
      CHECK(within(one.each.front(), component.lower, component.upper));
    }
    CHECK(within(told[0].each.front(), told[1].each.front().low, told[1].each.front().high));
    CHECK(intervals.of({{}}, {}).empty());
  }
}

TEST_CASE("plan intervals: of whole answers they end at whole numbers, whatever draws them",
          "[engine][intervals]") {
  for (const char* release : {"", "    release: {count: {mechanism: discrete_laplace}}\n",
                              "    release: {count: {mechanism: discrete_gaussian}}\n",
                              "    release: {count: {mechanism: gaussian}}\n",
                              "    release: {count: {arithmetic: exact, bound: 25/4}}\n"}) {
    for (const char* epsilon : {"0.7", "3", "30"}) {
      Request asked = request("count", epsilon);
      if (std::string(release).find("gaussian") != std::string::npos) asked.delta = Rational(1, 1000);
      for (const ledger::Rules rules : {ledger::kRules, ledger::Rules::joints}) {
        const Plan plan = planned(release, asked, rules);
        const ledger::ComponentRecord record = plan.record.components.front();
        // Values that can be released about the middle of the range, and at its lower end.
        const Rational centre = record.centre ? *record.centre : Rational(50'000);
        const std::vector<Rational> drawn{centre, centre + record.grid, centre - 3 * record.grid};
        const std::vector<Rational> values =
            accounting::post_process(plan.derivation.post_processing, {drawn});
        CAPTURE(release, epsilon, static_cast<int>(rules), accounting::text(record.grid));
        for (const CellIntervals& one : PlanIntervals(plan, alphas()).of({drawn}, values)) {
          for (std::size_t i = 0; i < values.size(); ++i) {
            const Rational a = accuracy_up(plan, 0, one.alpha);
            CHECK((one.each[i].low <= values[i] || one.each[i].low.get_den() == 1));
            CHECK((one.each[i].low >= values[i] - a || record.bound));
            CHECK((one.each[i].high <= values[i] + a || record.bound));
            const bool some_whole = accounting::floor(values[i] + a) >= accounting::ceil(values[i] - a);
            if (some_whole && rules == ledger::kRules) CHECK(one.each[i].low.get_den() == 1);
            if (some_whole && rules == ledger::kRules) CHECK(one.each[i].high.get_den() == 1);
          }
        }
      }
    }
  }
}

TEST_CASE("plan intervals: those of all cells together are wider, and a refused alpha is none here",
          "[engine][intervals]") {
  const Plan plan = planned("", request("count", "1", "", "ward"));
  const std::vector<Rational> values{plan.record.components.front().centre.value(), 0, 100'000};
  for (const CellIntervals& one : PlanIntervals(plan, alphas()).of({values}, values)) {
    REQUIRE(one.each.size() == 3);
    REQUIRE(one.together.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(within(one.each[i], one.together[i].low, one.together[i].high));
      CHECK(one.together[i].high - one.together[i].low > one.each[i].high - one.each[i].low);
      CHECK(within(one.together[i], 0, 100'000));
    }
    // Clamped at 0 and at the largest number of rows, they go to one side only.
    CHECK(one.each[1].low == 0);
    CHECK(one.each[2].high == 100'000);
  }
}

namespace {

/// Every output of a snapped component at an answer, with its probability: enumerated in doubles.
struct Law {
  std::vector<Rational> outputs;
  std::vector<double> probabilities;
};

Law law_of(const ledger::ComponentRecord& component, const Rational& answer) {
  const Rational &grid = component.grid, &centre = component.centre.value(), &bound = component.bound.value();
  const double scale = component.lambda.get_d();
  const Rational shifted = std::clamp<Rational>(answer - centre, -bound, bound);
  const long last = accounting::ceil(bound / grid).get_si();
  Law law;
  double before = 0;
  for (long k = -last; k <= last; ++k) {
    const double d = Rational((k + Rational(1, 2)) * grid - shifted).get_d();
    const double up_to = k == last ? 1 : d < 0 ? std::exp(d / scale) / 2 : 1 - std::exp(-d / scale) / 2;
    law.outputs.push_back(centre + std::clamp<Rational>(k * grid, -bound, bound));
    law.probabilities.push_back(up_to - before);
    before = up_to;
  }
  return law;
}

/// What the parts are exactly, and what is made of them.
struct Truth {
  std::vector<Rational> parts;
  Rational answer;
};

/// A plan's outputs, all combinations of those of its parts, as if each were a cell.
struct Outputs {
  std::vector<std::vector<Rational>> components;
  std::vector<std::vector<std::size_t>> indices;  ///< [combination][part]
};

Outputs combined(const Plan& plan) {
  Outputs all;
  std::vector<Law> laws;
  const std::size_t of_a_cell = accounting::values_of_a_cell(plan.derivation.post_processing.kind);
  for (const ledger::ComponentRecord& record : plan.record.components) {
    for (std::size_t i = 0; i < of_a_cell; ++i) laws.push_back(law_of(record, 0));
  }
  all.components.resize(plan.record.components.size());
  std::vector<std::size_t> at(laws.size(), 0);
  for (bool more = true; more;) {
    for (std::size_t part = 0; part < laws.size(); ++part) {
      all.components[part / of_a_cell].push_back(laws[part].outputs[at[part]]);
    }
    all.indices.push_back(at);
    more = false;
    for (std::size_t part = 0; part < laws.size() && !more; ++part) {
      more = ++at[part] < laws[part].outputs.size();
      if (!more) at[part] = 0;
    }
  }
  return all;
}

/// The largest probability, over the truths, that the interval of what is released misses the answer.
double worst_miss(const Plan& plan, const Rational& alpha, const std::vector<Truth>& truths) {
  const Outputs all = combined(plan);
  const std::vector<Rational> values =
      accounting::post_process(plan.derivation.post_processing, all.components);
  const std::vector<CellIntervals> told = PlanIntervals(plan, std::vector{alpha}).of(all.components, values);
  double worst = 0;
  for (const Truth& truth : truths) {
    std::vector<Law> laws;
    for (std::size_t part = 0; part < truth.parts.size(); ++part) {
      const std::size_t component = std::min(part, plan.record.components.size() - 1);
      laws.push_back(law_of(plan.record.components[component], truth.parts[part]));
    }
    double missed = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const AnswerInterval& interval = told.front().each[i];
      if (truth.answer >= interval.low && truth.answer <= interval.high) continue;
      double probability = 1;
      for (std::size_t part = 0; part < laws.size(); ++part) {
        probability *= laws[part].probabilities[all.indices[i][part]];
      }
      missed += probability;
    }
    worst = std::max(worst, missed);
  }
  return worst;
}

/// A clinic of so few rows, with ages up to 4.
Plan small_plan(const char* rows, const Request& asked) {
  std::string policy = clinic_policy("epsilon: 1000");
  policy.replace(policy.find("max: 100000"), 11, std::string("max: ") + rows);
  policy.replace(policy.find("[0, 110]"), 8, "[0, 4]");
  policy += "    allow: {statistics: [count, mean, variance, proportion]}\n";
  return make_plan(checked_policy(policy, "policy").dataset("clinic"), asked);
}

/// Of every table of 1 to `most` ages: parts about the centre, 2, and what is made of them.
std::vector<Truth> tables_of_ages(int most, bool variances) {
  std::vector<Truth> truths;
  std::vector<int> ages;
  const std::function<void(int)> extend = [&](int least) {
    Rational sum = 0, squares = 0;
    const Rational count(static_cast<long>(ages.size()));
    for (const int age : ages) {
      sum += age - 2;
      squares += (age - 2) * (age - 2);
    }
    if (!ages.empty()) {
      const Rational mean = sum / count;
      truths.push_back(variances ? Truth{{squares, sum, count}, squares / count - mean * mean}
                                 : Truth{{sum, count}, 2 + mean});
    }
    if (static_cast<int>(ages.size()) == most) return;
    for (int age = least; age <= 4; ++age) {
      ages.push_back(age);
      extend(age);
      ages.pop_back();
    }
  };
  extend(0);
  return truths;
}

}  // namespace

TEST_CASE("plan intervals: a released count covers the true one as often as it says", "[engine][intervals]") {
  std::vector<Truth> truths;
  for (int n = 0; n <= 40; ++n) truths.push_back({{n}, n});
  for (const char* epsilon : {"1", "2.9", "7", "16"}) {
    const Plan plan = small_plan("40", request("count", epsilon));
    for (const Rational& alpha : alphas()) {
      CAPTURE(epsilon, accounting::text(alpha));
      CHECK(worst_miss(plan, alpha, truths) <= alpha.get_d() + 1e-12);
    }
  }
}

TEST_CASE("plan intervals: a mean over a private number of rows covers the mean of every table of some rows",
          "[engine][intervals][exhaustive]") {
  const std::vector<Truth> truths = tables_of_ages(5, false);
  for (const char* epsilon : {"4", "12", "40"}) {
    const Plan plan = small_plan("5", request("mean:age", epsilon));
    REQUIRE(plan.mechanisms.size() == 2);
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      CAPTURE(epsilon, accounting::text(alpha));
      const double miss = worst_miss(plan, alpha, truths);
      CHECK(miss <= alpha.get_d() + 1e-12);
      if (alpha == Rational(1, 2) && std::string(epsilon) == "40") CHECK(miss > 0);  // says something
    }
  }
}

TEST_CASE("plan intervals: a proportion covers the share of every table of some rows",
          "[engine][intervals][exhaustive]") {
  std::vector<Truth> truths;
  for (int rows = 1; rows <= 12; ++rows) {
    for (int with = 0; with <= rows; ++with)
      truths.push_back({{with, rows - with}, Rational(with) / Rational(rows)});
  }
  for (const char* epsilon : {"1", "4", "12", "40"}) {
    const Plan plan = small_plan("12", request("proportion:ward:A", epsilon));
    REQUIRE(plan.mechanisms.size() == 1);
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      CAPTURE(epsilon, accounting::text(alpha));
      const double miss = worst_miss(plan, alpha, truths);
      CHECK(miss <= alpha.get_d() + 1e-12);
      if (alpha == Rational(1, 2) && std::string(epsilon) == "12") CHECK(miss > 0);  // says something
    }
  }
}

TEST_CASE("plan intervals: a proportion's end where its parts do, and say nothing where there may be no rows",
          "[engine][intervals]") {
  const Plan plan = planned(
      "    allow: {statistics: [proportion]}\n    release: {proportion: {mechanism: "
      "discrete_laplace}}\n",
      request("proportion:ward:A", "30"));
  const Rational alpha(1, 20);
  const PlanIntervals intervals(plan, std::vector{alpha});
  const auto told = [&](const Rational& with, const Rational& other) {
    const std::vector<std::vector<Rational>> drawn{{with, other}};
    const std::vector<Rational> values = accounting::post_process(plan.derivation.post_processing, drawn);
    const std::vector<CellIntervals> all = intervals.of(drawn, values);
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].each.size() == 1);
    CHECK(all[0].together.empty());
    CHECK(all[0].each[0].low <= values[0]);
    CHECK(all[0].each[0].high >= values[0]);
    return all[0].each[0];
  };
  const AnswerInterval most = told(900, 100);
  CHECK((most.low > Rational(89, 100) && most.high < Rational(91, 100)));
  const AnswerInterval nobody = told(-40, -40);
  CHECK((nobody.low == 0 && nobody.high == 1));
  CHECK(told(-40, 500).high == 0);
  CHECK(told(500, -40).low == 1);
  CHECK(intervals.of({{900}}, std::vector<Rational>{1}).empty());  // of a damaged record
}

TEST_CASE("plan intervals: a variance by groups covers that of every group of some rows",
          "[engine][intervals][exhaustive]") {
  const std::vector<Truth> truths = tables_of_ages(3, true);
  for (const char* epsilon : {"20", "90"}) {
    const Plan plan = small_plan("3", request("variance:age", epsilon, "", "ward"));
    REQUIRE(plan.mechanisms.size() == 3);
    for (const Rational& alpha : {Rational(1, 2), Rational(1, 20)}) {
      CAPTURE(epsilon, accounting::text(alpha));
      CHECK(worst_miss(plan, alpha, truths) <= alpha.get_d() + 1e-12);
    }
  }
}

TEST_CASE("plan intervals: a quotient of many rows is told closely, one of no rows not at all",
          "[engine][intervals]") {
  const Plan plan = planned("", request("mean:age", "2"));
  const auto told = [&](const Rational& sum, const Rational& count) {
    const std::vector<std::vector<Rational>> parts{{sum}, {count}};
    const std::vector<Rational> values = accounting::post_process(plan.derivation.post_processing, parts);
    const CellIntervals one = PlanIntervals(plan, alphas()).of(parts, values).front();
    CHECK(within(one.each.front(), 0, 110));
    CHECK((one.each.front().low <= values.front() && values.front() <= one.each.front().high));
    return Rational(one.each.front().high - one.each.front().low);
  };
  const ledger::ComponentRecord &sum = plan.record.components[0], &count = plan.record.components[1];
  const Rational many = *count.centre, about = *sum.centre;
  CHECK(told(about, many) < Rational(1, 10));
  CHECK(told(about, 0) == 110);
  CHECK(told(about + 100 * sum.grid, 0) == 110);  // no such sum comes of so few rows
  CHECK(PlanIntervals(plan, alphas()).of({{about}}, std::vector<Rational>{55}).empty());  // a damaged record
}
