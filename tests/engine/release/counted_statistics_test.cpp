// Counts of cells, proportions and distinct values: what permits them, what a policy says of them, and their
// accuracy. Their journey to the audit is in statistic_journey_test.cpp.
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "implied_object.hpp"
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
