// The loss of quantiles, from the exact probabilities of every release of every toy data set and of all its
// neighbours.
#include "mechanisms/selection_law.hpp"
#include "quantile_split.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;
using Data = std::vector<std::uint64_t>;

namespace {

QuantileParameters parameters(Selection selection, const char* epsilon, std::vector<Rational> quantiles,
                              std::uint64_t candidates, RowsChange how, std::uint64_t k,
                              std::uint64_t cells = 1) {
  QuantileOptions options = quantiles_asked(selection, epsilon, std::move(quantiles), candidates);
  options.change = how;
  options.rows_per_unit = k;
  options.cells = cells;
  return split_quantiles(options);
}

JointLaw law_of(const QuantileParameters& p, const Data& data) {
  return epsilog::test::joint_law(p, epsilog::test::rows_of(data));
}

std::map<Data, JointLaw> laws_of(const QuantileParameters& p, std::uint64_t rows_max) {
  std::map<Data, JointLaw> laws;
  for (const Data& data : epsilog::test::toy_data(p.candidates, rows_max)) laws[data] = law_of(p, data);
  return laws;
}

/// An upper bound of e^loss between two laws; negative where an output is impossible under the other.
Rational ratio_up(const JointLaw& one, const JointLaw& other) {
  Rational worst = 0;
  for (const auto& [output, mass] : one) {
    const auto found = other.find(output);
    if (found == other.end()) return -1;
    worst = std::max<Rational>(worst, mass.up / found->second.down);
  }
  return worst;
}

Rational power(const Rational& base, unsigned exponent) {
  Rational result = 1;
  for (unsigned i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// The sums that Renyi divergences are logarithms of.
Rational moment_up(const JointLaw& one, const JointLaw& other, unsigned order) {
  Rational sum = 0;
  for (const auto& [output, mass] : one)
    sum += power(mass.up, order) / power(other.at(output).down, order - 1);
  return sum;
}

/// What 192 bits leave open in a few operations.
const Rational kSlack = 1 + epsilog::accounting::power_of_two(-150);

constexpr std::array<Selection, 2> kSelections = {Selection::permute_and_flip, Selection::exponential};

Rational worst_ratio(const QuantileParameters& p, std::uint64_t rows_max, RowsChange how, std::uint64_t k) {
  const std::map<Data, JointLaw> laws = laws_of(p, rows_max);
  Rational worst = 0;
  for (const auto& [before, law] : laws) {
    for (const auto& [after, other] : laws) {
      if (before == after || !epsilog::test::neighbours(changed(before, after), how, k)) continue;
      const Rational ratio = ratio_up(law, other);
      REQUIRE(ratio > 0);
      worst = std::max(worst, ratio);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("quantile: no two neighbours of a toy domain lose more than epsilon",
          "[mechanisms][quantile][exhaustive]") {
  for (const Selection selection : kSelections) {
    for (const RowsChange how : {RowsChange::added_or_removed, RowsChange::replaced}) {
      for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}}) {
        for (const Rational& quantile : {Rational(1, 2), Rational(9, 10), Rational(1, 3)}) {
          for (const char* epsilon : {"0.5", "4"}) {
            const QuantileParameters p = parameters(selection, epsilon, {quantile}, 4, how, k);
            const Rational worst = worst_ratio(p, 4, how, k);
            CAPTURE(static_cast<int>(selection), static_cast<int>(how), k, quantile.get_d(), epsilon);
            CHECK(worst <= exp_up(p.adjusted, kLawPrecision) * kSlack);
            CHECK(worst >= exp_down(p.adjusted / 4, kLawPrecision));
          }
        }
      }
    }
  }
}

TEST_CASE("quantile: several selected one after the other lose no more than epsilon together",
          "[mechanisms][quantile][exhaustive]") {
  for (const Selection selection : kSelections) {
    for (const RowsChange how : {RowsChange::added_or_removed, RowsChange::replaced}) {
      for (const std::vector<Rational>& quantiles :
           {std::vector<Rational>{{1, 4}, {1, 2}, {3, 4}}, std::vector<Rational>{{1, 10}, {9, 10}}}) {
        for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}}) {
          const QuantileParameters p = parameters(selection, "3", quantiles, 3, how, k);
          const Rational worst = worst_ratio(p, 4, how, k);
          CAPTURE(static_cast<int>(selection), static_cast<int>(how), k, quantiles.size());
          CHECK(worst <= exp_up(p.adjusted, kLawPrecision) * kSlack);
          CHECK(worst >= exp_down(p.adjusted / 8, kLawPrecision));
        }
      }
    }
  }
}

TEST_CASE("quantile: of two cells between which a row moves the loss is at most epsilon",
          "[mechanisms][quantile][exhaustive]") {
  for (const Selection selection : kSelections) {
    for (const Rational& quantile : {Rational(1, 2), Rational(9, 10)}) {
      const QuantileParameters p = parameters(selection, "2", {quantile}, 3, RowsChange::replaced, 1, 2);
      const std::map<Data, JointLaw> laws = laws_of(p, 3);
      Rational gone = 0;  // the worst of a cell that a row leaves, and of one that it enters
      Rational come = 0;
      for (const auto& [before, law] : laws) {
        for (const auto& [after, other] : laws) {
          const epsilog::test::Changed rows = changed(before, after);
          if (rows.gone + rows.come != 1) continue;
          Rational& worst = rows.gone == 1 ? gone : come;
          worst = std::max(worst, ratio_up(law, other));
        }
      }
      CAPTURE(static_cast<int>(selection), quantile.get_d());
      CHECK(gone * come <= exp_up(p.adjusted, kLawPrecision) * kSlack);
      CHECK(gone * come >= exp_down(p.adjusted / 4, kLawPrecision));
    }
  }
}

TEST_CASE(
    "quantile: several of each of two cells lose no more than epsilon together, wherever a unit's rows are",
    "[mechanisms][quantile][exhaustive]") {
  const auto worst_of_two = [](const QuantileParameters& p, RowsChange how, std::uint64_t k) {
    const std::map<Data, JointLaw> laws = laws_of(p, 3);
    // Of one cell, by rows gone and come: cells are independent, so that their ratios multiply.
    std::array<std::array<Rational, 3>, 3> of_a_cell;
    for (const auto& [before, law] : laws) {
      for (const auto& [after, other] : laws) {
        const epsilog::test::Changed rows = changed(before, after);
        if (rows.gone > k || rows.come > k) continue;
        Rational& worst = of_a_cell[rows.gone][rows.come];
        worst = std::max(worst, ratio_up(law, other));
      }
    }
    Rational worst = 0;
    for (std::uint64_t i = 0; i < (k + 1) * (k + 1) * (k + 1) * (k + 1); ++i) {
      const std::uint64_t gone = i % (k + 1);
      const std::uint64_t come = i / (k + 1) % (k + 1);
      const std::uint64_t gone_too = i / (k + 1) / (k + 1) % (k + 1);
      const std::uint64_t come_too = i / (k + 1) / (k + 1) / (k + 1);
      if (gone + gone_too > k || come + come_too > k) continue;
      if (!epsilog::test::neighbours({gone + gone_too, come + come_too}, how, k)) continue;
      worst = std::max<Rational>(worst, of_a_cell[gone][come] * of_a_cell[gone_too][come_too]);
    }
    return worst;
  };
  for (const Selection selection : kSelections) {
    for (const RowsChange how : {RowsChange::added_or_removed, RowsChange::replaced}) {
      for (const std::vector<Rational>& quantiles :
           {std::vector<Rational>{{1, 4}, {1, 2}, {3, 4}}, std::vector<Rational>{{1, 2}, {9, 10}}}) {
        for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}}) {
          const QuantileParameters p = parameters(selection, "3", quantiles, 3, how, k, 2);
          const Rational worst = worst_of_two(p, how, k);
          CAPTURE(static_cast<int>(selection), static_cast<int>(how), k, quantiles.size());
          CHECK(worst <= exp_up(p.adjusted, kLawPrecision) * kSlack);
          CHECK(worst >= exp_down(p.adjusted / 8, kLawPrecision));
        }
      }
    }
  }
}

TEST_CASE("quantile: the exponential mechanism stays within its zCDP loss at every order",
          "[mechanisms][quantile][exhaustive]") {
  struct Setting {
    std::vector<Rational> quantiles;
    RowsChange how;
    const char* epsilon;
  };
  const std::vector<Setting> settings = {
      {{{1, 2}}, RowsChange::added_or_removed, "0.5"},
      {{{1, 2}}, RowsChange::replaced, "4"},
      {{{9, 10}}, RowsChange::added_or_removed, "4"},
      {{{1, 4}, {1, 2}, {3, 4}}, RowsChange::replaced, "4"},
  };
  for (const Setting& s : settings) {
    const QuantileParameters p = parameters(Selection::exponential, s.epsilon, s.quantiles, 3, s.how, 1);
    CAPTURE(s.epsilon, s.quantiles.size());
    const std::map<Data, JointLaw> laws = laws_of(p, 3);
    for (const auto& [before, law] : laws) {
      for (const auto& [after, other] : laws) {
        if (before == after || !epsilog::test::neighbours(changed(before, after), s.how, 1)) continue;
        for (const unsigned order : {2U, 3U, 8U, 40U}) {
          const Rational divergence = std::min<Rational>(p.adjusted, order * p.rho);
          const Rational moment = moment_up(law, other, order);
          REQUIRE(moment <= exp_up((order - 1) * divergence, kLawPrecision) * power(kSlack, order));
        }
      }
    }
  }
}

TEST_CASE("quantile: where many candidates are right, one more row loses nearly all of epsilon",
          "[mechanisms][quantile][exact]") {
  // All candidates of a wide gap are right; one more row makes them wrong and the last one less so.
  const std::size_t last = 60;
  Data before(last + 1, 0);
  before[0] = 10;
  before[last - 1] = 9;
  before[last] = 1;
  Data after = before;
  after[last] += 1;
  for (const Selection selection : kSelections) {
    const QuantileParameters p =
        parameters(selection, "1", {{1, 2}}, last + 1, RowsChange::added_or_removed, 1);
    const Rational worst = ratio_up(law_of(p, after), law_of(p, before));
    CAPTURE(static_cast<int>(selection), worst.get_d());
    CHECK(worst <= exp_up(p.adjusted, kLawPrecision) * kSlack);
    CHECK(worst >= exp_up(p.adjusted * 9 / 10, kLawPrecision));
  }
}

TEST_CASE(
    "quantile: permute and flip reaches epsilon^2/2 in zCDP, four times what the exponential mechanism does",
    "[mechanisms][quantile][exact]") {
  // Two candidates that change places, utilities of sensitivity 1.
  const Rational epsilon(1, 20);
  const auto moment = [&epsilon](Selection selection) {  // of order 2, from below
    const std::vector<Between> p = epsilog::test::selection_law(selection, {0, 1}, epsilon / 2);
    const std::vector<Between> q = epsilog::test::selection_law(selection, {1, 0}, epsilon / 2);
    return Rational(p[0].down * p[0].down / q[0].up + p[1].down * p[1].down / q[1].up);
  };
  const auto of_rho = [&epsilon](const Rational& part) {
    return exp_up(2 * part * epsilon * epsilon, kLawPrecision);
  };
  CHECK(moment(Selection::exponential) <= of_rho({1, 8}));
  CHECK(moment(Selection::exponential) > of_rho(Rational(9, 80)));
  CHECK(moment(Selection::permute_and_flip) > of_rho(Rational(9, 20)));
  CHECK(moment(Selection::permute_and_flip) <= of_rho({1, 2}));
}
