// What quantiles are asked for with, and the numbers that their selection then has.
//
// Source   The utility and its sensitivity: mechanisms/proofs/quantiles.md, sections 3 to 5.
// Thread-safety: values; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

/// How one of the candidates is selected.
enum class Selection {
  permute_and_flip,  ///< the smaller error at the same epsilon; nothing better than epsilon^2/2 is known in
                     ///< zCDP
  exponential,       ///< epsilon^2/8 in zCDP
};

/// How neighbouring data sets differ.
enum class RowsChange {
  added_or_removed,  ///< at most k rows come, or at most k go
  replaced,          ///< at most k rows go and at most k come
};

/// Most candidates of one selection, and most quantiles of one question.
inline constexpr std::uint64_t kCandidatesMax = 1'000'000;
inline constexpr std::size_t kQuantilesMax = 99;

/// What is released for the candidates, which are counted from 0: public.
struct CandidateValues {
  // Candidate i is first + i step, or list[i] where there is a list.
  Rational first = 0;
  Rational step = 1;                ///< > 0
  std::vector<Rational> list = {};  ///< strictly ascending, one for each candidate; empty: there is none

  /// Requires  candidate is below the number of candidates.
  [[nodiscard]] Rational at(std::uint64_t candidate) const;
  /// Which of so many candidates has that value.
  [[nodiscard]] std::optional<std::uint64_t> find(const Rational& value, std::uint64_t candidates) const;
  /// The candidate that is nearest, of two the greater one: all that lies beyond an end is that end.
  /// Requires  candidates >= 1.
  [[nodiscard]] std::uint64_t nearest(const Rational& value, std::uint64_t candidates) const;

  friend bool operator==(const CandidateValues&, const CandidateValues&) = default;
};

struct QuantileOptions {
  Selection selection = Selection::permute_and_flip;
  accounting::Epsilon epsilon;      ///< of all quantiles of all cells together, nats, > 0
  std::vector<Rational> quantiles;  ///< 1 to kQuantilesMax, ascending, each in (0, 1)
  std::uint64_t candidates = 0;     ///< how many values can be released, 1 to kCandidatesMax; public
  CandidateValues values = {};      ///< which they are; by itself a candidate is its own number
  RowsChange change = RowsChange::added_or_removed;
  std::uint64_t rows_per_unit = 1;  ///< k >= 1: rows of one unit in all cells together
  std::uint64_t cells = 1;          ///< >= 1: parts of the data, of each of which the quantiles are asked
};

/// How many rows of a cell were rounded to one candidate.
struct CandidateRows {
  std::uint64_t candidate = 0;  ///< 0 is the least
  std::uint64_t rows = 0;
};

/// One selection, made in each cell: of one quantile, among the rows that earlier selections left it.
struct QuantileNode {
  std::size_t quantile = 0;          ///< which of the quantiles asked for
  std::optional<std::size_t> lower;  ///< the quantile whose value bounds the rows from below, exclusive
  std::optional<std::size_t> upper;  ///< the one whose value bounds them from above, inclusive
  unsigned level = 0;                ///< how many selections were made of rows that include these
  Rational share;                    ///< Q': the quantile wanted of these rows, in (0, 1)
  Rational sensitivity;              ///< largest change of a candidate's utility, counted over all nodes of
                                     ///<   the level and all cells together
};

/// Everything an outsider needs to check the claim. All public.
struct QuantileParameters {
  Selection selection = Selection::permute_and_flip;
  std::uint64_t candidates = 0;
  CandidateValues values = {};
  std::uint64_t cells = 1;
  std::vector<QuantileNode> nodes;  ///< in the order in which they are drawn
  unsigned levels = 0;
  Rational level_epsilon;  ///< charged.epsilon / levels, exactly: what each node selects with
  accounting::ApproximateLoss charged;
  Rational adjusted;  ///< proved epsilon: charged.epsilon
  Rational rho;       ///< proved zCDP loss: epsilon^2/2, exponential epsilon^2/(8 levels); exact
};

/// Largest change, counted over all cells, of a candidate's utility -dist(Q n, [#<c, #<=c]):
///   added_or_removed   k max(Q, 1 - Q)
///   replaced, one cell    k                         attained, as are the others
///   replaced, more        2 k max(Q, 1 - Q)
/// Exact. For the selections of a level below the first, which divide the rows among them, "more" holds.
/// Requires  0 < quantile < 1, rows_per_unit >= 1.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational quantile_sensitivity(const Rational& quantile, RowsChange change,
                                            std::uint64_t rows_per_unit, bool one_cell);

/// The largest of any selection that the options lead to; epsilon plays no part.
/// Requires  quantiles as options must have them.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational largest_sensitivity(const QuantileOptions& options);

}  // namespace epsilog::mechanisms
