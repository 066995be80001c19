// The laws of selections between exact rational bounds, from their definitions, and those of whole quantile
// releases as a tree of selections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "directed_functions.hpp"
#include "epsilog/mechanisms/quantile_mechanism.hpp"
#include "quantile_utility.hpp"

namespace epsilog::test {

using accounting::Integer;
using accounting::Rational;
using mechanisms::CandidateRows;
using mechanisms::QuantileParameters;
using mechanisms::Selection;

inline constexpr unsigned kLawPrecision = 192;

/// Of quantiles without cells, of units with one row each.
inline mechanisms::QuantileOptions quantiles_asked(Selection selection, const char* epsilon,
                                                   std::vector<Rational> quantiles,
                                                   std::uint64_t candidates) {
  mechanisms::QuantileOptions options;
  options.selection = selection;
  options.epsilon = accounting::Epsilon::parse_down(epsilon);
  options.quantiles = std::move(quantiles);
  options.candidates = candidates;
  return options;
}

struct Between {
  Rational down;
  Rational up;
};

inline Rational down_to_precision(const Rational& value) {
  return accounting::MpfrNumber::rounded(value, kLawPrecision, MPFR_RNDD).rational();
}
inline Rational up_to_precision(const Rational& value) {
  return accounting::MpfrNumber::rounded(value, kLawPrecision, MPFR_RNDU).rational();
}

/// e^-(rate (distance - least)) of each candidate.
inline std::vector<Between> odds_of(const std::vector<Integer>& distances, const Rational& rate) {
  Integer least = distances.front();
  for (const Integer& each : distances) least = std::min(least, each);
  std::vector<Between> odds;
  for (const Integer& each : distances) {
    const Rational x = rate * (each - least);
    odds.push_back(
        x == 0 ? Between{1, 1}
               : Between{mechanisms::exp_down(-x, kLawPrecision), mechanisms::exp_up(-x, kLawPrecision)});
  }
  return odds;
}

/// e^-x over the sum of all e^-x.
inline std::vector<Between> exponential_law(const std::vector<Between>& odds) {
  Between sum{0, 0};
  for (const Between& each : odds) {
    sum.down += each.down;
    sum.up += each.up;
  }
  std::vector<Between> law;
  for (const Between& each : odds)
    law.push_back({down_to_precision(each.down / sum.up), up_to_precision(each.up / sum.down)});
  return law;
}

/// p_c times the integral over 0 <= s <= 1 of the product of 1 - p_d s over the others (proof, section 1):
/// with E_j the sum of the products of j different p_d, p_c sum over j of (-1)^j E_j / (j + 1).
inline std::vector<Between> permute_and_flip_law(const std::vector<Between>& odds) {
  std::vector<Between> law;
  for (std::size_t c = 0; c < odds.size(); ++c) {
    std::vector<Between> symmetric = {{1, 1}};
    for (std::size_t d = 0; d < odds.size(); ++d) {
      if (d == c) continue;
      symmetric.push_back({0, 0});
      for (std::size_t j = symmetric.size() - 1; j > 0; --j) {
        symmetric[j].down += symmetric[j - 1].down * odds[d].down;
        symmetric[j].up += symmetric[j - 1].up * odds[d].up;
      }
    }
    Between sum{0, 0};
    for (std::size_t j = 0; j < symmetric.size(); ++j) {
      const Rational share(1, j + 1);
      const bool added = j % 2 == 0;
      sum.down += share * (added ? symmetric[j].down : Rational(-symmetric[j].up));
      sum.up += share * (added ? symmetric[j].up : Rational(-symmetric[j].down));
    }
    law.push_back({down_to_precision(odds[c].down * sum.down), up_to_precision(odds[c].up * sum.up)});
  }
  return law;
}

inline std::vector<Between> selection_law(Selection selection, const std::vector<Integer>& distances,
                                          const Rational& rate) {
  const std::vector<Between> odds = odds_of(distances, rate);
  return selection == Selection::exponential ? exponential_law(odds) : permute_and_flip_law(odds);
}

inline std::vector<Integer> unrolled(const std::vector<mechanisms::DistanceRun>& runs) {
  std::vector<Integer> distances;
  for (const mechanisms::DistanceRun& run : runs) distances.insert(distances.end(), run.count, run.distance);
  return distances;
}

using JointLaw = std::map<std::vector<std::uint64_t>, Between>;

inline void extend_law(JointLaw& law, const QuantileParameters& p, const std::vector<CandidateRows>& rows,
                       std::size_t drawn, std::vector<std::uint64_t>& selected, const Between& so_far) {
  if (drawn == p.nodes.size()) {
    law[selected] = so_far;
    return;
  }
  const mechanisms::QuantileNode& node = p.nodes[drawn];
  const mechanisms::CandidateRange range = mechanisms::range_of(node, selected, p.candidates);
  const std::vector<Between> here =
      selection_law(p.selection, unrolled(mechanisms::distance_runs(rows, range, node.share)),
                    p.level_epsilon / (2 * node.sensitivity * node.share.get_den()));
  for (std::size_t i = 0; i < here.size(); ++i) {
    selected[node.quantile] = range.first + i;
    extend_law(law, p, rows, drawn + 1, selected,
               {down_to_precision(so_far.down * here[i].down), up_to_precision(so_far.up * here[i].up)});
  }
}

/// P(the quantiles of one cell are these candidates), for all that are possible.
inline JointLaw joint_law(const QuantileParameters& p, const std::vector<CandidateRows>& rows) {
  JointLaw law;
  std::vector<std::uint64_t> selected(p.nodes.size());
  extend_law(law, p, rows, 0, selected, {1, 1});
  return law;
}

/// How many rows each candidate has: every data set of up to `rows_max` rows.
inline std::vector<std::vector<std::uint64_t>> toy_data(std::size_t candidates, std::uint64_t rows_max) {
  std::vector<std::vector<std::uint64_t>> all = {{}};
  for (std::size_t c = 0; c < candidates; ++c) {
    std::vector<std::vector<std::uint64_t>> longer;
    for (const auto& data : all) {
      std::uint64_t used = 0;
      for (const std::uint64_t rows : data) used += rows;
      for (std::uint64_t rows = 0; used + rows <= rows_max; ++rows) {
        longer.push_back(data);
        longer.back().push_back(rows);
      }
    }
    all = std::move(longer);
  }
  return all;
}

inline std::vector<CandidateRows> rows_of(const std::vector<std::uint64_t>& data) {
  std::vector<CandidateRows> rows;
  for (std::size_t c = 0; c < data.size(); ++c) rows.push_back({c, data[c]});
  return mechanisms::in_order(std::move(rows), data.size() - 1);
}

/// How many rows went from `before` to `after`, and how many came.
struct Changed {
  std::uint64_t gone = 0;
  std::uint64_t come = 0;
};
inline Changed changed(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after) {
  Changed result;
  for (std::size_t c = 0; c < before.size(); ++c)
    (before[c] > after[c] ? result.gone : result.come) +=
        before[c] > after[c] ? before[c] - after[c] : after[c] - before[c];
  return result;
}

/// Whether one unit of at most k rows makes the difference.
inline bool neighbours(const Changed& change, mechanisms::RowsChange how, std::uint64_t k) {
  if (how == mechanisms::RowsChange::replaced) return change.gone <= k && change.come <= k;
  return (change.gone == 0 && change.come <= k) || (change.come == 0 && change.gone <= k);
}

}  // namespace epsilog::test
