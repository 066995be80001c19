// Ratios of two sums, and variances over a private number of rows, from the question to the audit: what is
// drawn, charged, recorded, replayed, permitted and found wrong.
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/dummy_release.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "later_policy.hpp"
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

bool near(const Rational& value, const Rational& wanted) {
  return abs(Rational(value - wanted)) < Rational(1, 50);
}

}  // namespace

TEST_CASE("ratio: without noise it is that of the rows that have both, in each cell",
          "[engine][ratio][exact]") {
  auto [clinic, engine] = Open<Clinic>(kMuch, kWhole);
  const Answer all = release(engine, request("ratio:cost,age", kNearly));
  REQUIRE(all.recorded.granted);
  CHECK(near(all.released.values.at(0), Rational(921275, 21200)));  // 9212.75 / 212
  const Answer by = release(engine, request("ratio:cost,age", kNearly, "", "ward"));
  REQUIRE(by.released.values.size() == 3);
  CHECK(near(by.released.values[0], Rational(413275, 12300)));
  CHECK(near(by.released.values[1], Rational(5080, 89)));
  // The third has no row with both: an end of what there can be, and no interval.
  CHECK((by.released.values[2] == 0 || by.released.values[2] == 500'000'000));
  const Answer some = release(engine, request("ratio:age,cost", "10000", "", std::nullopt, "ward = 'B'"));
  CHECK(near(some.released.values.at(0), Rational(89, 5080)));
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

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

TEST_CASE("ratio: what is recorded is what was proved, each sum by its share, and a retry is free",
          "[engine][ratio][G5]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", kNamed + "    mean_split: 1/4\n");
  const Answer one = release(engine, request("ratio:cost,age", "0.8", "monday"));
  REQUIRE(one.recorded.granted);
  CHECK(one.asked.statistic == "ratio:cost,age");
  CHECK(one.planned.post_processing == accounting::PostProcessing::Kind::ratio);
  REQUIRE(one.planned.record.components.size() == 2);
  const ledger::ComponentRecord& above = one.planned.record.components[0];
  const ledger::ComponentRecord& below = one.planned.record.components[1];
  CHECK(above.statistic == "numerator");
  CHECK(above.sensitivity == 15'000);
  CHECK(above.epsilon.text() == "0.2");
  CHECK(below.statistic == "denominator");
  CHECK(below.sensitivity == 330);
  CHECK(below.epsilon.text() == "0.6");
  REQUIRE(one.released.component_values.size() == 2);
  CHECK((one.released.values[0] >= 0 && one.released.values[0] <= 500'000'000));
  const Answer again = release(engine, request("ratio:cost,age", "0.8", "monday"));
  CHECK(again.recorded.replayed);
  CHECK(again.released.values == one.released.values);
  // With another column under the line it is another question.
  CHECK(reason_codes(release(engine, request("ratio:age,cost", "0.8", "monday"))) ==
        std::vector{RefusalCode::key_conflict});
  CHECK(release(engine, request("ratio:cost,age", "0.4", "", "ward"))
            .planned.record.components[1]
            .coordinates == 3);
  CHECK(spent(engine) == "1.2");
  std::vector<std::string> told;
  engine.history("", 0, [&](const Answer& each) { told.push_back(each.asked.statistic); });
  CHECK(told == std::vector<std::string>{"ratio:cost,age", "ratio:age,cost", "ratio:cost,age"});
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("ratio: Gaussian noise is calibrated to the L2 sensitivity of each sum", "[engine][ratio][exact]") {
  auto [clinic, engine] = Open<Clinic>("measure: zcdp, rho: 50",
                                       kNamed + "    release: {default: {mechanism: discrete_gaussian}}\n");
  engine::Request asked = request("ratio:cost,age", "0", "", "ward");
  asked.rho = Rational(1, 10);
  const Answer answer = release(engine, asked);
  REQUIRE(answer.recorded.granted);
  CHECK(answer.planned.record.components.at(0).sensitivity_l2_squared == Rational(15'000) * 15'000);
  CHECK(answer.planned.record.components.at(1).sensitivity_l2_squared == Rational(330) * 330);
  Rational rho = 0;
  for (const ledger::ComponentRecord& part : answer.planned.record.components) rho += part.rho.value();
  CHECK(rho <= Rational(1, 10));
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
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

TEST_CASE("private variance: it is that of the rows that have a value, by three parts",
          "[engine][ratio][exact]") {
  auto [clinic, engine] = Open<Clinic>(kMuch, kWhole);
  const Answer all = release(engine, request("variance:age", kNearly, "monday"));
  REQUIRE(all.recorded.granted);
  CHECK(near(all.released.values.at(0), Rational(8566, 25)));  // 10702/5 - (212/5)²
  CHECK(all.planned.post_processing == accounting::PostProcessing::Kind::variance_about);
  REQUIRE(all.planned.record.components.size() == 3);
  CHECK(all.planned.record.components[0].statistic == "squares_about_centre");
  CHECK(all.planned.record.components[0].sensitivity == 9075);
  CHECK(all.planned.record.components[1].sensitivity == 165);
  CHECK(all.planned.record.components[2].sensitivity == 3);
  CHECK(release(engine, request("variance:age", kNearly, "monday")).recorded.replayed);
  const Answer some = release(engine, request("variance:age", kNearly, "", std::nullopt, "ward = 'A'"));
  CHECK(near(some.released.values.at(0), Rational(1478, 3)));  // 6521/3 - 41²
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

TEST_CASE("ratio: a request that waits is planned otherwise where what divides it begins elsewhere",
          "[engine][ratio][later]") {
  const auto plan = [](const char* bounds) {
    std::string yaml = clinic_policy("epsilon: 3", kNamed);
    yaml.replace(yaml.find("[0, 110]"), 8, bounds);
    const engine::Policy policy = engine::checked_policy(yaml, "p.yaml");
    return std::make_shared<engine::Plan>(
        engine::make_plan(policy.datasets()[0], request("ratio:cost,age", "0.5")));
  };
  const auto otherwise = [&](const char* before, const char* after) {
    engine::Terms asked, now;
    asked.plan = plan(before);
    now.plan = plan(after);
    return engine::plan_differences(asked, now);
  };
  CHECK(otherwise("[0, 110]", "[0, 110]").empty());
  CHECK(otherwise("[0, 110]", "[1, 110]") == std::vector<std::string>{"post-processing"});
  CHECK(otherwise("[1, 110]", "[2, 110]") == std::vector<std::string>{"post-processing"});
}

TEST_CASE("ratio: what cannot be derived names the declaration, by any way to ask", "[engine][ratio][G8]") {
  std::string yaml = clinic_policy("epsilon: 3", kNamed);
  yaml.replace(yaml.find("[0, 110]"), 8, "[-1, 110]");
  TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  folder.write("policy.yaml", yaml);
  (void)Engine::init(folder.path("policy.yaml"), folder.path("L"), "curator");
  Engine engine = Engine::open(folder.path("L"));
  const engine::Request asked = request("ratio:cost,age", "0.1");
  const auto told = says("column 'age' is divided by, and its bounds begin below 0: declare `bounds`");
  CHECK_THROWS_WITH(release(engine, asked), told);
  CHECK_THROWS_WITH(engine.plan(asked, {}), told);
  CHECK_THROWS_WITH(engine.forecast(asked, {}), told);
  mechanisms::SystemBits bits;
  CHECK_THROWS_WITH(engine::dummy_release(engine::checked_policy(yaml, "p.yaml"), asked, bits, {}), told);
  CHECK(release(engine, request("ratio:age,cost", "0.1")).recorded.granted);
  CHECK(spent(engine) == "0.1");
  const auto dummy =
      engine::dummy_release(engine::checked_policy(yaml, "p.yaml"),
                            request("ratio:age,cost", "0.1", "", "ward"), bits, std::vector{Rational(1, 20)});
  CHECK(dummy.would_be.released.values.size() == 3);
}
