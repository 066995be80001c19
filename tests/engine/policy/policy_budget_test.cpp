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

/// Eight visits a day: a date column, and one with declared values.
PolicyText with_blocks(const std::string& blocks) {
  PolicyText text;
  text.columns =
      "{visit_date: {type: date}, ward: {type: string, values: [A, B, C]}, emergency: {type: bool}, "
      "note: {type: string}}";
  text.more = "lifetime: {epsilon: 10}\n    blocks: " + blocks;
  return text;
}

}  // namespace

TEST_CASE("budget: rho is an exact number rounded down onto its grid", "[engine][policy][budget][exact]") {
  const Budget half = budget_of("{measure: zcdp, rho: 0.5}");
  CHECK(half.measure == Measure::zcdp);
  CHECK(half.rho.units() == 500'000'000'000'000);
  CHECK(half.epsilon == Epsilon{});
  CHECK(half.delta == Delta{});
  CHECK(half.orders.empty());
  CHECK_FALSE(half.target.has_value());
  CHECK(budget_of("{measure: zcdp, rho: 2/3}").rho.units() == 666'666'666'666'666);
}

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

TEST_CASE("budget: divergences are kept by ascending order, each rounded down",
          "[engine][policy][budget][exact]") {
  const Budget budget = budget_of("{measure: rdp, orders: {8: 1.5, 5/2: 1/3, '2': 0.5, 1.0625: 1e-3}}");
  CHECK(budget.measure == Measure::rdp);
  REQUIRE(budget.orders.size() == 4);
  CHECK(budget.orders[0].order == Rational(17, 16));
  CHECK(budget.orders[1].order == 2);
  CHECK(budget.orders[2].order == Rational(5, 2));
  CHECK(budget.orders[2].divergence.units() == 333'333'333'333);
  CHECK(budget.orders[3].order == 8);
  CHECK(budget.orders[3].divergence.text() == "1.5");
  CHECK_FALSE(budget.target.has_value());
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

TEST_CASE("budget: lifetime has the same measures as the budget, and its own", "[engine][policy][budget]") {
  PolicyText text;
  CHECK_FALSE(text.dataset().lifetime.has_value());
  text.more = "lifetime: {measure: zcdp, rho: 2}";
  CHECK(text.dataset().budget.measure == Measure::pure);
  CHECK(text.dataset().lifetime->rho.text() == "2");
  text.more = "lifetime: {epsilon: 10, delta: 1e-5}";
  CHECK(text.dataset().lifetime->measure == Measure::approximate);
  CHECK(text.dataset().lifetime->epsilon.text() == "10");
  CHECK(text.dataset().lifetime->delta.text() == "0.00001");
  text.more = "lifetime: {measure: rdp, orders: {2: 4}}";
  CHECK(text.dataset().lifetime->orders[0].divergence.text() == "4");
}

TEST_CASE("budget: each period of the calendar may renew it", "[engine][policy][budget][exact]") {
  CHECK_FALSE(PolicyText{}.dataset().renews.has_value());
  CHECK_FALSE(PolicyText{}.dataset().accepts_unbounded_lifetime);
  const std::pair<const char*, CalendarPeriod> periods[] = {{"day", CalendarPeriod::day},
                                                            {"week", CalendarPeriod::week},
                                                            {"month", CalendarPeriod::month},
                                                            {"quarter", CalendarPeriod::quarter},
                                                            {"year", CalendarPeriod::year}};
  for (const auto& [word, period] : periods) {
    const Dataset clinic =
        with_budget("{epsilon: 1, renew: " + std::string(word) + ", accept_unbounded_lifetime: true}")
            .dataset();
    CHECK(clinic.renews == period);
    CHECK(clinic.accepts_unbounded_lifetime);
    CHECK(name(period) == word);
  }
  PolicyText bounded = with_budget("{epsilon: 1, renew: month}");
  bounded.more = "lifetime: {epsilon: 12}";
  CHECK(bounded.dataset().renews == CalendarPeriod::month);
  CHECK_FALSE(bounded.dataset().accepts_unbounded_lifetime);
  bounded.budget = "{epsilon: 1, renew: month, accept_unbounded_lifetime: false}";
  CHECK_FALSE(bounded.dataset().accepts_unbounded_lifetime);
}

TEST_CASE("blocks: the range is from the first day of one period to the last of another",
          "[engine][policy][budget][exact]") {
  CHECK_FALSE(PolicyText{}.dataset().blocks.has_value());
  const Blocks months =
      *with_blocks("{by: visit_date, per: month, from: 2024-01, to: 2024-02}").dataset().blocks;
  CHECK(months.by == "visit_date");
  CHECK(months.per == CalendarPeriod::month);
  CHECK(months.first_day == 19723);           // 2024-01-01
  CHECK(months.last_day == 19723 + 31 + 28);  // 2024-02-29
  CHECK(months.mark.line == 11);
  CHECK(months.mark.column == 5);
  const auto days_of = [](const std::string& blocks) {
    const Blocks decoded = *with_blocks(blocks).dataset().blocks;
    return decoded.last_day - decoded.first_day + 1;
  };
  CHECK(days_of("{by: visit_date, per: day, from: 2024-01-31, to: 2024-01-31}") == 1);
  CHECK(days_of("{by: visit_date, per: week, from: 2024-W05, to: 2024-W06}") == 14);
  CHECK(days_of("{by: visit_date, per: quarter, from: 2024-Q1, to: 2024-Q1}") == 91);
  CHECK(days_of("{by: visit_date, per: year, from: 2023, to: '2024'}") == 731);
  CHECK(days_of("{by: visit_date, per: day, from: 2000-01-01, to: 2011-03-19}") == 4096);
}

TEST_CASE("blocks: of a column with declared values each value is one", "[engine][policy][budget][exact]") {
  const Blocks wards = *with_blocks("{by: ward}").dataset().blocks;
  CHECK(wards.by == "ward");
  CHECK_FALSE(wards.per.has_value());
  CHECK(wards.first_day == 0);
  CHECK(wards.last_day == 0);
  CHECK(with_blocks("{by: emergency}").dataset().blocks->by == "emergency");
  PolicyText dates = with_blocks("{by: visit_date}");
  dates.columns = "{visit_date: {type: date, values: [2024-01-01, 2024-07-01]}}";
  CHECK_FALSE(dates.dataset().blocks->per.has_value());
  dates = with_blocks("{by: visit_date, per: year, from: 2024, to: 2024}");
  dates.columns = "{visit_date: {type: date, values: [2024-01-01, 2024-07-01]}}";
  CHECK(dates.dataset().blocks->per == CalendarPeriod::year);
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
