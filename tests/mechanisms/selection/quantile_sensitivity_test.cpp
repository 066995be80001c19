// The sensitivities of quantiles against every pair of neighbours of a toy domain: none is exceeded, and each
// is attained. And that what is split between selections and cells adds up to what one unit is allowed.
#include "epsilog/accounting/errors.hpp"
#include "mechanisms/selection_law.hpp"
#include "quantile_split.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;
using Data = std::vector<std::uint64_t>;

namespace {

/// Utility of each candidate of the range, from its definition and without runs.
std::vector<Rational> utilities(const Data& data, const CandidateRange& range, const Rational& quantile) {
  Rational all = 0;
  for (std::uint64_t c = range.rows_first; c <= range.last; ++c) all += Rational(data[c]);
  std::vector<Rational> result;
  Rational below = 0;
  for (std::uint64_t c = range.first; c <= range.last; ++c) {
    const Rational up_to = below + (c >= range.rows_first ? Rational(data[c]) : Rational(0));
    const Rational target = quantile * all;
    result.push_back(target < below   ? Rational(target - below)
                     : target > up_to ? Rational(up_to - target)
                                      : Rational(0));
    below = up_to;
  }
  return result;
}

struct Change {
  Rational largest;  ///< of one candidate
  Rational range;    ///< between the candidates that gained and lost most
};
Change change_of(const Data& before, const Data& after, const CandidateRange& range,
                 const Rational& quantile) {
  const std::vector<Rational> u = utilities(before, range, quantile);
  const std::vector<Rational> v = utilities(after, range, quantile);
  Rational least = v[0] - u[0];
  Rational most = least;
  for (std::size_t c = 1; c < u.size(); ++c) {
    least = std::min<Rational>(least, v[c] - u[c]);
    most = std::max<Rational>(most, v[c] - u[c]);
  }
  return {std::max<Rational>(most, -least), most - least};
}

/// Of one cell, by rows gone and come: the largest change.
using OfACell = std::array<std::array<Rational, 3>, 3>;

template <class ChangeOf>
OfACell worst_of_a_cell(const std::vector<Data>& all, std::uint64_t k, const ChangeOf& change) {
  OfACell worst_of;
  for (const Data& before : all) {
    for (const Data& after : all) {
      const Changed rows = changed(before, after);
      if (rows.gone > k || rows.come > k) continue;
      Rational& worst = worst_of[rows.gone][rows.come];
      worst = std::max<Rational>(worst, change(before, after));
    }
  }
  return worst_of;
}

/// Of two cells, over which the rows of one unit are spread.
Rational worst_of_two_cells(const OfACell& worst_of, RowsChange how, std::uint64_t k) {
  Rational worst = 0;
  for (std::uint64_t gone = 0; gone <= k; ++gone) {
    for (std::uint64_t come = 0; come <= k; ++come) {
      for (std::uint64_t gone_too = 0; gone + gone_too <= k; ++gone_too) {
        for (std::uint64_t come_too = 0; come + come_too <= k; ++come_too) {
          if (!neighbours({gone + gone_too, come + come_too}, how, k)) continue;
          worst = std::max<Rational>(worst, worst_of[gone][come] + worst_of[gone_too][come_too]);
        }
      }
    }
  }
  return worst;
}

/// What a level's selections change together, each in its own sensitivity, if the one before took `middle`.
Rational change_of_level(const QuantileParameters& p, unsigned level, std::uint64_t middle,
                         const Data& before, const Data& after) {
  Rational sum = 0;
  const std::array<std::uint64_t, 3> selected = {0, middle, 0};
  for (const QuantileNode& node : p.nodes) {
    if (node.level != level) continue;
    sum += change_of(before, after, range_of(node, selected, p.candidates), node.share).largest /
           node.sensitivity;
  }
  return sum;
}

/// Three quantiles, the middle one of which is selected first.
const std::vector<std::vector<Rational>> kThree = {
    {{1, 4}, {1, 2}, {3, 4}}, {{1, 10}, {1, 2}, {9, 10}}, {{1, 10}, {1, 5}, {3, 10}}};

QuantileParameters split(const std::vector<Rational>& quantiles, std::uint64_t candidates, RowsChange how,
                         std::uint64_t k, std::uint64_t cells) {
  QuantileOptions options;
  options.epsilon = epsilog::accounting::Epsilon::parse_down("1");
  options.quantiles = quantiles;
  options.candidates = candidates;
  options.change = how;
  options.rows_per_unit = k;
  options.cells = cells;
  QuantileParameters p = split_quantiles(options);
  REQUIRE(p.nodes.size() == 3);
  REQUIRE(p.levels == 2);
  return p;
}

constexpr std::array<RowsChange, 2> kChanges = {RowsChange::added_or_removed, RowsChange::replaced};
const std::array<Rational, 5> kQuantiles = {Rational(1, 2), Rational(1, 3), Rational(9, 10), Rational(1, 100),
                                            Rational(5, 7)};

}  // namespace

TEST_CASE("quantile: runs are the utilities of the candidates one by one, and one is right",
          "[mechanisms][quantile][overlap]") {
  for (const Data& data : toy_data(4, 4)) {
    for (const Rational& quantile : kQuantiles) {
      for (const CandidateRange& range : {CandidateRange{0, 3, 0}, CandidateRange{0, 2, 0},
                                          CandidateRange{1, 3, 2}, CandidateRange{2, 2, 3}}) {
        const auto distances = epsilog::test::unrolled(distance_runs(rows_of(data), range, quantile));
        const std::vector<Rational> expected = utilities(data, range, quantile);
        REQUIRE(distances.size() == expected.size());
        for (std::size_t c = 0; c < expected.size(); ++c)
          REQUIRE(-distances[c] == expected[c] * quantile.get_den());
        REQUIRE(*std::min_element(distances.begin(), distances.end()) == 0);
      }
    }
  }
}

TEST_CASE("quantile: numbers of rows that no word can hold the sum of are added exactly",
          "[mechanisms][quantile]") {
  const std::vector<CandidateRows> rows = in_order({{.candidate = 1, .rows = 2},
                                                    {.candidate = 0, .rows = UINT64_MAX},
                                                    {.candidate = 0, .rows = UINT64_MAX}},
                                                   2);
  // 2^65 rows, of which all but two are with the first of three candidates.
  const Integer n = Integer(1) << 65;
  const auto distances = epsilog::test::unrolled(distance_runs(rows, {0, 2, 0}, Rational(1, 2)));
  REQUIRE(distances.size() == 3);
  CHECK(distances[0] == 0);
  CHECK(distances[1] == 2 * (n - 2) - n);
  CHECK(distances[2] == n);
}

TEST_CASE(
    "quantile: in one cell no neighbour changes a utility by more than the sensitivity, and one does by it",
    "[mechanisms][quantile][exhaustive]") {
  const std::vector<Data> all = toy_data(3, 5);
  const CandidateRange whole{0, 2, 0};
  for (const RowsChange how : kChanges) {
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}}) {
      for (const Rational& quantile : kQuantiles) {
        const Rational bound = quantile_sensitivity(quantile, how, k, true);
        Change worst;
        for (const Data& before : all) {
          for (const Data& after : all) {
            if (!neighbours(changed(before, after), how, k)) continue;
            const Change change = change_of(before, after, whole, quantile);
            worst = {std::max(worst.largest, change.largest), std::max(worst.range, change.range)};
          }
        }
        CAPTURE(static_cast<int>(how), k, quantile.get_d());
        CHECK(worst.largest == bound);
        CHECK(worst.range <= 2 * bound);
      }
    }
  }
}

TEST_CASE("quantile: utilities on either side of the quantile move apart by twice the sensitivity",
          "[mechanisms][quantile][exact]") {
  // So a mechanism that exploits the sign of the changes would gain nothing.
  const std::uint64_t n = 1000;
  for (const RowsChange how : kChanges) {
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{3}}) {
      for (const Rational& quantile : kQuantiles) {
        const std::uint64_t low = epsilog::accounting::floor(quantile * n).get_ui() - k;
        const std::uint64_t high = epsilog::accounting::floor((1 - quantile) * n).get_ui() - k;
        const Data before = {low, n - low - high, high};
        Data after = before;
        if (how == RowsChange::replaced) {
          after[0] -= k;
          after[2] += k;
        } else {
          after[quantile * 2 < 1 ? 0 : 2] += k;
        }
        CHECK(change_of(before, after, {0, 2, 0}, quantile).range ==
              2 * quantile_sensitivity(quantile, how, k, true));
      }
    }
  }
}

TEST_CASE("quantile: over two cells the changes of a unit add up to at most the sensitivity, and reach it",
          "[mechanisms][quantile][exhaustive]") {
  const std::vector<Data> all = toy_data(2, 3);
  const CandidateRange whole{0, 1, 0};
  for (const RowsChange how : kChanges) {
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}}) {
      for (const Rational& quantile : kQuantiles) {
        const OfACell worst_of = worst_of_a_cell(all, k, [&](const Data& before, const Data& after) {
          return change_of(before, after, whole, quantile).largest;
        });
        const Rational worst = worst_of_two_cells(worst_of, how, k);
        CAPTURE(static_cast<int>(how), k, quantile.get_d());
        CHECK(worst == quantile_sensitivity(quantile, how, k, false));
      }
    }
  }
}

TEST_CASE("quantile: where rows are divided, the changes of all selections of a level add up to at most one",
          "[mechanisms][quantile][exhaustive]") {
  // Three quantiles: below and above every value of the middle one, each change in its own sensitivity.
  const std::vector<Data> all = toy_data(4, 4);
  for (const RowsChange how : kChanges) {
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}}) {
      for (const std::vector<Rational>& quantiles : kThree) {
        const QuantileParameters p = split(quantiles, 4, how, k, 1);
        Rational worst = 0;
        for (const Data& before : all) {
          for (const Data& after : all) {
            if (!neighbours(changed(before, after), how, k)) continue;
            for (std::uint64_t middle = 0; middle < 4; ++middle)
              worst = std::max<Rational>(worst, change_of_level(p, 1, middle, before, after));
          }
        }
        CAPTURE(static_cast<int>(how), k, worst.get_d());
        CHECK(worst == 1);
      }
    }
  }
}

TEST_CASE("quantile: over two cells, each divided by itself, the changes of a level add up to at most one",
          "[mechanisms][quantile][exhaustive]") {
  // The first level too: its selections are as many as the cells. What one cell's selection took says nothing
  // of the other's.
  const std::vector<Data> all = toy_data(3, 4);
  for (const RowsChange how : kChanges) {
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}}) {
      for (const std::vector<Rational>& quantiles : kThree) {
        const QuantileParameters p = split(quantiles, 3, how, k, 2);
        for (const unsigned level : {0U, 1U}) {
          const OfACell worst_of = worst_of_a_cell(all, k, [&](const Data& before, const Data& after) {
            Rational worst = 0;
            for (std::uint64_t middle = 0; middle < 3; ++middle)
              worst = std::max<Rational>(worst, change_of_level(p, level, middle, before, after));
            return worst;
          });
          CAPTURE(static_cast<int>(how), k, level);
          CHECK(worst_of_two_cells(worst_of, how, k) == 1);
        }
      }
    }
  }
}

TEST_CASE("quantile: sensitivities are those of the table", "[mechanisms][quantile][exact]") {
  using R = RowsChange;
  CHECK(quantile_sensitivity({1, 2}, R::added_or_removed, 3, true) == Rational(3, 2));
  CHECK(quantile_sensitivity({1, 10}, R::added_or_removed, 3, true) == Rational(27, 10));
  CHECK(quantile_sensitivity({9, 10}, R::added_or_removed, 3, false) == Rational(27, 10));
  CHECK(quantile_sensitivity({1, 10}, R::replaced, 3, true) == 3);
  CHECK(quantile_sensitivity({1, 10}, R::replaced, 3, false) == Rational(27, 5));
  CHECK(quantile_sensitivity({1, 2}, R::replaced, 3, false) == 3);
  for (const Rational& wrong : {Rational(0), Rational(1), Rational(-1, 2)})
    CHECK_THROWS_AS(quantile_sensitivity(wrong, R::replaced, 1, true), epsilog::InvalidParameter);
  CHECK_THROWS_AS(quantile_sensitivity({1, 2}, R::replaced, 0, true), epsilog::InvalidParameter);
}
