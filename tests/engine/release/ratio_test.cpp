// Ratios of two sums, and variances over a private number of rows: intervals, what permits them and what a
// policy says of them. Their journey to the audit is in statistic_journey_test.cpp.
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/dummy_release.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "plan.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

const std::string kNamed = "    allow: {statistics: [mean, variance, private_variance, ratio]}\n";
const std::string kWhole = kNamed + "    release: {default: {mechanism: discrete_laplace}}\n";

/// Where noise is far below what is told apart: of a sum it has a scale below 1/30.
const std::string kNearly = "1000000";
const std::string kMuch = "epsilon: 2300000";

}  // namespace

TEST_CASE("ratio: an interval is the whole range where 0 is a plausible denominator, and else it is not",
          "[engine][ratio][intervals]") {
  auto [clinic, engine] = Open<Clinic>(kMuch, kWhole);
  mechanisms::SystemBits bits;
  const std::vector<Rational> alphas{accounting::power_of_ten(-9)};
  const Answer by = engine.release(request("ratio:cost,age", kNearly, "", "ward"), bits, alphas);
  REQUIRE(by.released.intervals.size() == 1);
  const engine::CellIntervals& told = by.released.intervals[0];
  REQUIRE(told.groups.size() == 1);
  CHECK((told.groups[0].range.low == 0 && told.groups[0].range.high == 500'000'000));
  REQUIRE((told.each.size() == 3 && told.together.size() == 3));
  for (const auto& of_cells : {told.each, told.together}) {
    CHECK_FALSE(told.is_whole_range(0, of_cells[0]));
    CHECK((of_cells[0].low <= Rational(413275, 12300) && of_cells[0].high >= Rational(413275, 12300)));
    CHECK(Rational(of_cells[0].high - of_cells[0].low) < Rational(1, 10));
    CHECK_FALSE(told.is_whole_range(1, of_cells[1]));
    CHECK(told.is_whole_range(2, of_cells[2]));
  }
  const Answer blurred = engine.release(request("ratio:cost,age", "0.01"), bits, alphas);
  CHECK(blurred.released.intervals[0].is_whole_range(0, blurred.released.intervals[0].each[0]));
}

TEST_CASE("ratio and private variance: no policy from before permits them, whatever else it names",
          "[engine][ratio][negative]") {
  // The refusal is recorded as any, costs nothing, and says what would have to be named.
  auto [clinic, engine] = Open<Clinic>();
  const Answer refused = release(engine, request("variance:age", "0.1"));
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].message ==
        "statistic 'private_variance', a variance over a private number of rows, is not among the statistics "
        "that 'clinic' allows; it is asked only where `allow.statistics` names it");
  CHECK(spent(engine) == "0");
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("private variance: of a public number of rows it is the variance that it was",
          "[engine][ratio][negative]") {
  // Of a public number of rows it is the variance that it was.
  std::string exact = clinic_policy("epsilon: 3", "    allow: {statistics: [variance]}\n");
  exact.replace(exact.find("max: 100000"), 11, "exact: 6");
  exact.replace(exact.find("add-remove"), 10, "replace-one");
  exact.replace(exact.find("[0, 110]}"), 9, "[0, 110], missing: 50}");
  exact.replace(exact.find("[0, 5000]}"), 10, "[0, 5000], missing: 0}");
  mechanisms::SystemBits bits;
  const engine::Policy policy = engine::checked_policy(exact, "p.yaml");
  for (const char* where : {"", "ward = 'A'"}) {
    const auto condition = *where == 0 ? std::nullopt : std::optional<std::string>(where);
    const engine::Request asked = request("variance:age", "0.1", "", std::nullopt, condition);
    CHECK(reason_codes(engine::dummy_release(policy, asked, bits, {}).would_be).empty());
  }
}

TEST_CASE("private variance: what forbids variances forbids it, and a diff of rules says just that",
          "[engine][ratio][policy]") {
  const auto policy = [](const std::string& statistics) {
    const std::string rules = statistics.empty() ? "" : "    forbid: [{statistics: [" + statistics + "]}]\n";
    return engine::checked_policy(clinic_policy("epsilon: 3", kNamed + rules), "p.yaml");
  };
  const auto directions = [&](const std::string& before, const std::string& after) {
    std::string text;
    for (const engine::PolicyChange& change : engine::diff(policy(before), policy(after)))
      text += std::string(name(change.direction)) + " ";
    return text;
  };
  CHECK(directions("variance", "variance, private_variance") == "neutral ");
  CHECK(directions("private_variance, variance", "variance") == "neutral ");
  CHECK(directions("private_variance", "variance") == "tighter ");
  CHECK(directions("variance", "private_variance") == "looser ");
  CHECK(directions("", "private_variance") == "tighter ");
  CHECK(directions("ratio", "ratio, variance") == "tighter ");
}

TEST_CASE(
    "ratio and private variance: a policy is held to what they could be released with, once it names them",
    "[engine][ratio][policy]") {
  const std::string coarse = "    release: {variance: {precision: binary64, bound: 1e30}}\n";
  const auto checked = [](const std::string& more) {
    return engine::checked_policy(clinic_policy("epsilon: 3", more), "p.yaml");
  };
  const engine::Policy policy = checked(
      kNamed +
      "    release: {ratio: {mechanism: discrete_laplace, grid: 4}, variance: {arithmetic: exact}}\n");
  const auto planned = [&](const char* statistic) {
    return engine::make_plan(policy.datasets()[0], request(statistic, "0.5")).record;
  };
  CHECK(planned("ratio:cost,age").mechanism == "discrete_laplace");
  CHECK(planned("ratio:cost,age").components[1].grid == 1);  // 4 of a ratio says nothing of its parts
  CHECK(planned("variance:age").arithmetic == "exact");
  CHECK(planned("mean:age").arithmetic == "mpfr");
  // Bounds are of the answer, and say nothing of the parts.
  CHECK_NOTHROW(checked(coarse));
  CHECK_NOTHROW(checked(kNamed + coarse));
  // What binary64 cannot hold of a part is told before anybody asks, and of what cannot be asked never.
  const auto many_rows = [](const std::string& statistics, const std::string& released) {
    std::string yaml =
        clinic_policy("epsilon: 2300000", "    allow: {statistics: [" + statistics + "]}\n    release: {" +
                                              released + ": {precision: binary64}}\n");
    yaml.replace(yaml.find("max: 100000"), 11, "max: 1000000000000");
    return engine::checked_policy(yaml, "p.yaml");
  };
  CHECK_THROWS_WITH(many_rows("ratio", "ratio"),
                    says("'ratio:age,cost' of dataset 'clinic' cannot be released"));
  CHECK_NOTHROW(many_rows("mean", "ratio"));
  CHECK_THROWS_WITH(many_rows("private_variance", "variance"),
                    says("'variance:age' of dataset 'clinic' cannot be released"));
  CHECK_NOTHROW(many_rows("variance", "variance"));
}

TEST_CASE("ratio: accuracy is known beforehand of its parts and not of itself", "[engine][ratio][forecast]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 50", kNamed);
  const Rational alpha(1, 20);
  const Answer planned = engine.plan(request("ratio:cost,age", "5"), {alpha});
  CHECK(planned.planned.accuracy.size() == 2);
  CHECK(planned.planned.advice.empty());
  CHECK_THROWS_WITH(
      engine.forecast_of_accuracy(request("ratio:cost,age", "1"), {alpha, Rational(1, 10)}, {alpha}),
      says("releases, each with an accuracy of its own"));
  const auto forecast = engine.forecast(request("ratio:cost,age", "1"), {alpha});
  CHECK(forecast.each.planned.record.components.size() == 2);
}
