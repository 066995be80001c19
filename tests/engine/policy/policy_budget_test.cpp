// Amounts of privacy loss as a policy writes them: four measures, lifetime, renewal, blocks.
#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "policy_keys.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

using Texts = std::vector<std::string>;

namespace {

PolicyText with_budget(const std::string& budget) {
  PolicyText text;
  text.budget = budget;
  return text;
}

Budget budget_of(const std::string& budget) {
  return with_budget(budget).dataset().budget;
}

}  // namespace

TEST_CASE("budget: rho of an epsilon and a delta is the largest on the grid that keeps them",
          "[engine][policy][budget][exact]") {
  const Budget budget = budget_of("{measure: zcdp, epsilon: 3, delta: 1e-6}");
  CHECK(budget.measure == Measure::zcdp);
  REQUIRE(budget.target.has_value());
  CHECK(budget.target->epsilon.text() == "3");
  CHECK(budget.target->delta.text() == "0.000001");
  CHECK(budget.epsilon == Epsilon{});
  const Rational delta(1, 1'000'000);
  CHECK(accounting::zcdp_epsilon_up(budget.rho.rational(), delta) <= 3);
  CHECK(accounting::zcdp_epsilon_up(Rho::from_units(budget.rho.units() + 1).rational(), delta) > 3);
}

TEST_CASE("budget: one order takes the largest divergence on the grid that keeps epsilon and delta",
          "[engine][policy][budget][exact]") {
  const Budget budget = budget_of("{measure: rdp, order: 8, epsilon: 3, delta: 1e-6}");
  REQUIRE(budget.orders.size() == 1);
  CHECK(budget.orders[0].order == 8);
  CHECK(budget.target->epsilon.text() == "3");
  const auto epsilon_of = [](Epsilon divergence) {
    const accounting::RenyiPoint point{8, divergence.rational()};
    return accounting::renyi_epsilon_up({&point, 1}, Rational(1, 1'000'000));
  };
  CHECK(epsilon_of(budget.orders[0].divergence) <= 3);
  CHECK(epsilon_of(Epsilon::from_units(budget.orders[0].divergence.units() + 1)) > 3);
}

TEST_CASE("budget: (3, 1e-6) holds 37 releases of epsilon 0.1 as rho, and 41 at order 9",
          "[engine][policy][budget][exact]") {
  const accounting::LossFacts tenth{accounting::LossFacts::Kind::pure, Rational(1, 10), {}};
  const Rational rho = budget_of("{measure: zcdp, epsilon: 3, delta: 1e-6}").rho.rational();
  CHECK(37 * accounting::rho_of_release_up(tenth) <= rho);
  CHECK(38 * accounting::rho_of_release_up(tenth) > rho);
  const RenyiLimit limit = budget_of("{measure: rdp, order: 9, epsilon: 3, delta: 1e-6}").orders.at(0);
  CHECK(41 * accounting::renyi_of_release_up(tenth, limit.order) <= limit.divergence.rational());
  CHECK(42 * accounting::renyi_of_release_up(tenth, limit.order) > limit.divergence.rational());
}

TEST_CASE("budget: a slip in any of its keys is named with the nearest",
          "[engine][policy][budget][negative]") {
  for (const std::string& name : keys::budget.names()) {
    const std::string epsilon = name == "epsilon" ? "" : "epsilon: 1, ";
    const Texts faults = faults_of(with_budget("{" + epsilon + name.substr(0, 1) + name + ": 1}"));
    CAPTURE(name);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].ends_with(" Did you mean '" + name + "'?"));
  }
}

TEST_CASE("budget: a slip in a needed key is one mistake", "[engine][policy][budget][negative]") {
  CHECK(faults_of(with_budget("{epsilom: 3}")).size() == 1);
  CHECK(faults_of(with_budget("{measure: zcdp, rhoo: 3}")).size() == 1);
  CHECK(faults_of(with_budget("{measure: zcdp, epsilon: 3, detla: 1e-6}")).size() == 1);
  CHECK(faults_of(with_budget("{measure: rdp, ordres: {2: 1}}")).size() == 1);
  CHECK(faults_of(with_budget("{measure: rdp, order: 8, epsilon: 3, detla: 1e-6}")).size() == 1);
  CHECK(faults_of(with_budget("{measure: zdcp, rho: 3}")).size() == 1);
  CHECK(faults_of(with_budget("{measure: approximate, epsilon: 3, detla: 1e-6}")).size() == 1);
}

TEST_CASE("policy: a declared precision is checked at the largest epsilon that fits, in every measure",
          "[engine][policy][budget][exact]") {
  // The proof allows a bound of at most 2^(53-7) noise scales: of a count, 2^46 * 3 / epsilon.
  const auto accepted = [](const std::string& budget, const std::string& bound, const std::string& lifetime) {
    PolicyText text = with_budget(budget);
    text.more = "release: {count: {precision: binary64, bound: " + bound + "}}";
    if (!lifetime.empty()) text.more += "\n    lifetime: " + lifetime;
    return faults_of(text).empty();
  };
  const std::string at_most_epsilon_1 = "2e14", at_most_epsilon_20 = "1e13";
  CHECK(accepted("{epsilon: 1}", at_most_epsilon_1, ""));
  CHECK_FALSE(accepted("{epsilon: 20}", at_most_epsilon_1, ""));
  CHECK(accepted("{epsilon: 20}", at_most_epsilon_20, ""));
  CHECK(accepted("{epsilon: 20}", at_most_epsilon_1, "{epsilon: 1}"));
  // epsilon^2/2 of a pure release is at most rho.
  CHECK(accepted("{measure: zcdp, rho: 0.5}", at_most_epsilon_1, ""));
  CHECK_FALSE(accepted("{measure: zcdp, rho: 200}", at_most_epsilon_1, ""));
  CHECK(accepted("{measure: zcdp, rho: 200}", at_most_epsilon_20, ""));
  CHECK(accepted("{measure: zcdp, rho: 200}", at_most_epsilon_1, "{measure: zcdp, rho: 0.5}"));
  // At a large order the divergence of a pure release is nearly its epsilon.
  CHECK(accepted("{measure: rdp, orders: {2: 200, 1000: 1}}", at_most_epsilon_1, ""));
  CHECK_FALSE(accepted("{measure: rdp, orders: {2: 20}}", at_most_epsilon_1, ""));
  CHECK(accepted("{measure: rdp, orders: {2: 19}}", at_most_epsilon_20, ""));
}
