// Counts of cells, proportions and distinct values from the question to the audit: what is drawn, charged,
// recorded, replayed, permitted and found wrong.
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/dummy_release.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "implied_object.hpp"
#include "later_policy.hpp"
#include "plan.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

const std::string kNamed = "    allow: {statistics: [count, count_of, proportion, distinct]}\n";
const std::string kWhole = kNamed + "    release: {default: {mechanism: discrete_laplace}}\n";

/// Where the data decide: noise of discrete Laplace that is not 0 has a probability below 1e-100.
const std::string kBeyondDoubt = "1000";

}  // namespace

TEST_CASE("counted statistics: beyond all doubt they are those of the rows that are kept",
          "[engine][counted][exact]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 100000", kWhole);
  const auto values = [&](const char* statistic, std::optional<std::string> by = std::nullopt) {
    const Answer answer = release(engine, request(statistic, kBeyondDoubt, "", std::move(by)));
    REQUIRE(answer.recorded.granted);
    return answer.released.values;
  };
  CHECK(values("count:age") == std::vector<Rational>{5});
  CHECK(values("count:age", "ward") == std::vector<Rational>{3, 2, 0});
  CHECK(values("distinct:ward") == std::vector<Rational>{3});
  CHECK(values("distinct:ward", "ward") == std::vector<Rational>{1, 1, 1});
  CHECK(values("proportion:ward:A") == std::vector<Rational>{Rational(1, 2)});
  CHECK(values("proportion:ward:A", "ward") == std::vector<Rational>{1, 0, 0});
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("counted statistics: what is recorded is what was proved, and a retry is free",
          "[engine][counted][G5]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", kNamed);
  const Answer share = release(engine, request("proportion:ward:A", "0.6", "monday"));
  REQUIRE(share.recorded.granted);
  CHECK(share.asked.statistic == "proportion:ward:A");
  REQUIRE(share.planned.record.components.size() == 1);
  const ledger::ComponentRecord& drawn = share.planned.record.components[0];
  CHECK(drawn.statistic == "rows_of_value");
  CHECK(drawn.sensitivity == 3);
  CHECK(drawn.coordinates == 2);
  CHECK(drawn.epsilon.text() == "0.6");
  CHECK(share.planned.post_processing == accounting::PostProcessing::Kind::proportion);
  REQUIRE(share.released.component_values.size() == 1);
  REQUIRE(share.released.component_values[0].size() == 2);
  CHECK((share.released.values[0] >= 0 && share.released.values[0] <= 1));
  const Answer again = release(engine, request("proportion:ward:A", "0.6", "monday"));
  CHECK(again.recorded.replayed);
  CHECK(again.released.component_values == share.released.component_values);
  CHECK(release(engine, request("proportion:ward:B", "0.6", "monday")).recorded.granted == false);
  const Answer count = release(engine, request("count:age", "0.5"));
  CHECK(count.planned.record.components.at(0).statistic == "count");
  CHECK(count.planned.record.components.at(0).sensitivity == 3);
  CHECK(count.released.values.at(0).get_den() == 1);  // snapped, then rounded
  const Answer kinds = release(engine, request("distinct:ward", "0.5", "", "ward"));
  CHECK(kinds.planned.record.components.at(0).statistic == "distinct");
  CHECK(kinds.planned.record.components.at(0).sensitivity == 3);
  CHECK(kinds.planned.record.components.at(0).coordinates == 3);
  CHECK(spent(engine) == "1.6");
  std::vector<std::string> told;
  engine.history("", 0, [&](const Answer& one) { told.push_back(one.asked.statistic); });
  CHECK(told ==
        std::vector<std::string>{"proportion:ward:A", "proportion:ward:B", "count:age", "distinct:ward"});
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("counted statistics: Gaussian noise is calibrated to their L2 sensitivities",
          "[engine][counted][exact]") {
  auto [clinic, engine] = Open<Clinic>("measure: zcdp, rho: 50",
                                       kNamed + "    release: {default: {mechanism: discrete_gaussian}}\n");
  for (const char* statistic : {"count:age", "proportion:ward:C", "distinct:ward"}) {
    engine::Request asked = request(statistic, "0", "", "ward");
    asked.rho = Rational(1, 10);
    const Answer answer = release(engine, asked);
    REQUIRE(answer.recorded.granted);
    CHECK(answer.planned.record.components.at(0).sensitivity_l2_squared == std::optional(Rational(9)));
    CHECK(answer.planned.record.components.at(0).rho.value() <= Rational(1, 10));
  }
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}

TEST_CASE("statistics that are asked only by name: their arrival is looser, and leaving them out tighter",
          "[engine][counted][quantile][ratio][policy]") {
  const auto policy = [](const std::string& more) {
    return engine::checked_policy(clinic_policy("epsilon: 3", more), "p.yaml");
  };
  const auto changes = [](const engine::Policy& before, const engine::Policy& after) {
    std::string text;
    for (const engine::PolicyChange& change : engine::diff(before, after)) {
      text += std::string(name(change.direction)) + " " + change.path.at(2) + "." + change.path.at(3) + " " +
              change.after + "; ";
    }
    return text;
  };
  const std::string first = "    allow: {statistics: [count, units, sum, mean, variance, value]}\n";
  CHECK(changes(policy(""), policy("    allow: {statistics: [default]}\n")).empty());
  CHECK(changes(policy(first), policy("    allow: {statistics: [default]}\n")).empty());
  for (const std::string word :
       {"count_of", "proportion", "distinct", "private_variance", "ratio", "quantile"}) {
    CAPTURE(word);
    std::string more = first;
    more.insert(more.find(']'), ", " + word);
    CHECK(changes(policy(first), policy(more)) == "looser allow.statistics " + word + "; ");
    CHECK(changes(policy(""), policy(more)) == "looser allow.statistics " + word + "; ");
    CHECK(changes(policy(more), policy("")) == "tighter allow.statistics ; ");
    CHECK(changes(policy(""), policy("    allow: {statistics: [" + word + ", default]}\n")) ==
          "looser allow.statistics " + word + "; ");
    // What a policy implies grows by the entry of what can be asked, and by nothing otherwise: a variance is
    // released as a variance, whatever permits it.
    const std::string entry = "\"name\":\"" + word + "\"";
    CHECK((engine::implied_object(policy(more)).find(entry) != std::string::npos) ==
          (word != "private_variance"));
    // A query of an older policy that is called so is a query.
    CHECK(engine::implied_object(policy(first)).find(entry) == std::string::npos);
    std::string yaml = clinic_policy("epsilon: 3", "    release: {" + word + ": {mechanism: gaussian}}\n");
    yaml.replace(yaml.find("score:"), 6, word + ":");
    const engine::Policy stored = engine::Policy::parse_stored(yaml, "policy version 1");
    CHECK(stored.datasets()[0].settings(word).mechanism == engine::MechanismChoice::gaussian);
    CHECK(stored.datasets()[0].quantile_selection == engine::SelectionChoice::automatic);
    CHECK_THROWS_WITH(engine::checked_policy(yaml, "p.yaml"),
                      says("query name '" + word + "': this name is reserved; choose another"));
  }
}

TEST_CASE("counted statistics: each is released as the policy says of it, and bounds are of the answer",
          "[engine][counted][policy]") {
  const std::string more = kNamed +
                           "    release: {proportion: {mechanism: discrete_laplace, grid: 4}, "
                           "distinct: {bound: 1}, count_of: {mechanism: discrete_laplace, grid: 2}}\n";
  const engine::Policy policy = engine::checked_policy(clinic_policy("epsilon: 3", more), "p.yaml");
  const auto component = [&](const char* statistic) {
    const engine::Plan plan = engine::make_plan(policy.datasets()[0], request(statistic, "0.5"));
    return std::pair(plan.record.mechanism, plan.record.components.at(0));
  };
  CHECK(component("count:age").first == "discrete_laplace");
  CHECK(component("count:age").second.grid == 2);
  CHECK(component("count").first == "snapping");
  CHECK(component("proportion:ward:A").first == "discrete_laplace");
  CHECK(component("proportion:ward:A").second.grid == 1);  // 4 of a share says nothing of its parts
  CHECK(component("distinct:ward").second.bound == std::optional(Rational(1)));
  CHECK_THROWS_WITH(
      engine::checked_policy(
          clinic_policy("epsilon: 3",
                        kNamed + "    release: {count_of: {precision: binary64, bound: 1e30}}\n"),
          "p.yaml"),
      says("'count:age' of dataset 'clinic' cannot be released at epsilon 3"));
}

TEST_CASE("counted statistics: accuracy is known beforehand of counts, of a proportion for a number of rows",
          "[engine][counted][forecast]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 50", kNamed);
  const Rational alpha(1, 20);
  for (const char* statistic : {"count:age", "distinct:ward"}) {
    CAPTURE(statistic);
    const Answer planned = engine.plan(request(statistic, "5"), {alpha});
    const Rational a = planned.planned.accuracy.at(0).at(0).a;
    const auto forecast = engine.forecast_of_accuracy(request(statistic, "5"), {alpha, a}, {alpha});
    REQUIRE(forecast.has_value());
    CHECK(forecast->epsilon <= 5);
    CHECK(forecast->each.planned.accuracy.at(0).at(0).a.rational() <= a);
  }
  CHECK_THROWS_WITH(
      engine.forecast_of_accuracy(request("proportion:ward:A", "1"), {alpha, Rational(1, 10)}, {alpha}),
      "accuracy: 'proportion:ward:A' is a quotient of two releases, each with an accuracy of its own; assume "
      "a "
      "number of rows (--assume-count N; `assume_count`), from which that of the whole follows");
  const auto of_rows =
      engine.forecast_of_accuracy(request("proportion:ward:A", "1"), {alpha, Rational(1, 10)}, {alpha}, 400);
  REQUIRE(of_rows.has_value());
  REQUIRE(of_rows->each.planned.assumed.has_value());
  CHECK(of_rows->each.planned.assumed->rows == 400);
  CHECK(of_rows->each.planned.assumed->accuracy.at(0).a.rational() <= Rational(1, 10));
  const Answer advised = engine.plan(request("count:age", "0.5"), {alpha});
  REQUIRE(advised.planned.advice.size() == 1);
  CHECK(advised.planned.advice[0].find("(policy: release.count_of)") != std::string::npos);
  CHECK(engine.plan(request("proportion:ward:A", "0.5"), {alpha}).planned.advice.empty());
}

TEST_CASE("counted statistics: what every row has is not asked for, by any way to ask",
          "[engine][counted][G8]") {
  std::string more = kNamed;
  const Clinic clinic("epsilon: 3", kNamed);
  std::string yaml = clinic_policy("epsilon: 3", more);
  yaml.replace(yaml.find("[0, 110]}"), 9, "[0, 110], missing: 50}");
  clinic.folder.write("policy.yaml", yaml);
  TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  folder.write("policy.yaml", yaml);
  (void)Engine::init(folder.path("policy.yaml"), folder.path("L"), "curator");
  Engine engine = Engine::open(folder.path("L"));
  const engine::Request asked = request("count:age", "0.1");
  const auto told = says("the policy says what stands for a missing one; ask for count");
  CHECK_THROWS_WITH(release(engine, asked), told);
  CHECK_THROWS_WITH(engine.plan(asked, {}), told);
  CHECK_THROWS_WITH(engine.forecast(asked, {}), told);
  mechanisms::SystemBits bits;
  CHECK_THROWS_WITH(engine::dummy_release(engine::checked_policy(yaml, "p.yaml"), asked, bits, {}), told);
  CHECK(release(engine, request("count:cost", "0.1")).recorded.granted);
  CHECK(spent(engine) == "0.1");
}

TEST_CASE("counted statistics: a request that waits is planned otherwise where other values are counted",
          "[engine][counted][later]") {
  const auto plan = [](const char* values, const char* statistic) {
    std::string yaml = clinic_policy("epsilon: 3", kNamed);
    yaml.replace(yaml.find("[A, B, C]"), 9, values);
    const engine::Policy policy = engine::checked_policy(yaml, "p.yaml");
    return engine::make_plan(policy.datasets()[0], request(statistic, "0.5"));
  };
  const auto otherwise = [&](const char* statistic, const char* before, const char* after) {
    engine::Terms asked, now;
    asked.plan = std::make_shared<engine::Plan>(plan(before, statistic));
    now.plan = std::make_shared<engine::Plan>(plan(after, statistic));
    return engine::plan_differences(asked, now);
  };
  CHECK(otherwise("distinct:ward", "[A, B, C]", "[A, B, C]").empty());
  CHECK(otherwise("distinct:ward", "[A, B, C]", "[A, B, D]") ==
        std::vector<std::string>{"values that are counted"});
  CHECK(otherwise("proportion:ward:A", "[A, B, C]", "[A, B, D]").empty());
}

TEST_CASE("counted statistics: cells of a count of cells are suppressed as those of a count, others are not",
          "[engine][counted][suppression]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 100000", kWhole);
  engine::Request asked = request("count:age", kBeyondDoubt, "", "ward");
  engine::suppress_below(asked.question, 3);
  const Answer answer = release(engine, asked);
  CHECK_FALSE(is_suppressed(answer, 0));
  CHECK((is_suppressed(answer, 1) && is_suppressed(answer, 2)));
  for (const char* statistic : {"proportion:ward:A", "distinct:ward"}) {
    engine::Request other = request(statistic, "1", "", "ward");
    CHECK_THROWS_WITH(engine::suppress_below(other.question, 3),
                      says("no count of its cells is released with '" + std::string(statistic) + "'"));
  }
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
}
