// Intervals for the exact answer of each cell that was released.
//
// About    The answer after max_rows, clamping and dropping, for tables of at most rows.max rows: what the
//          rules of the policy make of the rows (docs/rows.md). It is no population of which the rows may be
//          a sample.
// Law      mechanisms/proofs/intervals.md, mechanisms/proofs/quotients.md.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/mechanisms/answer_interval.hpp"

namespace epsilog::engine {

/// Cells whose releases have one law: all cells of an answer, or those of one margin of a table with totals.
struct CellGroup {
  std::size_t cells = 1;
  mechanisms::AnswerInterval range;  ///< all that the answer of such a cell can be
  /// From which true size on an interval that is shown narrower than the range contains its answer, given
  /// that it is shown, with probability at least 1 - alpha. The size is a cell's number of rows or units, or
  /// the denominator of its ratio. 0: at every size. Nothing: at no size that the policy allows.
  std::optional<accounting::Rational> each_holds_from = std::nullopt;
  /// The same for any set of cells that all have this size, given that all of them are shown so, and for all
  /// of their intervals together.
  std::optional<accounting::Rational> together_holds_from = std::nullopt;
};

/// Between which quantiles of the rows a released quantile lies, except with probability alpha: 0 to 1 if it
/// may be any value. `ties`: and so many times the most rows at one value.
struct QuantileReach {
  accounting::Rational alpha;
  accounting::Rational low;
  accounting::Rational high;
  accounting::Rational ties;
};

/// Returns the largest number of rows of which a quantile with that rank error may be any value: both ends of
/// the data are in reach.
/// Requires  0 < quantile < 1, error >= 0.
[[nodiscard]] accounting::Integer any_value_to(const accounting::Rational& quantile,
                                               const accounting::Rational& error);

/// What a plan says of the intervals at one alpha: the largest sizes of any of its groups.
struct PlannedSizes {
  accounting::Rational alpha;
  std::optional<accounting::Rational> each_holds_from;
  std::optional<accounting::Rational> together_holds_from;  ///< that of `each` for a single answer
};

/// At one alpha; one element a cell, one in all without `by`.
struct CellIntervals {
  accounting::Rational alpha;
  /// Each contains its answer with probability at least 1 - alpha.
  std::vector<mechanisms::AnswerInterval> each;
  /// All of them together contain theirs with probability at least 1 - alpha. Empty for a single answer.
  std::vector<mechanisms::AnswerInterval> together = {};
  /// One margin after the other, with as many cells together as there are intervals.
  std::vector<CellGroup> groups = {};

  /// Returns the group of that cell.
  /// Requires  cell < each.size().
  [[nodiscard]] const CellGroup& group_of(std::size_t cell) const {
    std::size_t group = 0;
    for (; cell >= groups.at(group).cells; ++group) cell -= groups[group].cells;
    return groups[group];
  }
  /// Returns whether an interval of that cell says nothing but what the policy says: it is the whole range.
  [[nodiscard]] bool is_whole_range(std::size_t cell, const mechanisms::AnswerInterval& interval) const {
    const mechanisms::AnswerInterval& range = group_of(cell).range;
    return interval.low <= range.low && interval.high >= range.high;
  }
};

}  // namespace epsilog::engine
