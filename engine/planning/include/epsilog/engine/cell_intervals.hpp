// Intervals for the exact answer, of each cell that was released.
//
// About    The answer after max_rows, clamping and dropping, for tables of at most rows.max rows: what the
// policy's
//          rules make of the rows (docs/rows.md). Not a population of which the rows may be a sample.
// Law      mechanisms/proofs/intervals.md, mechanisms/proofs/quotients.md.
#pragma once

#include <optional>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/mechanisms/answer_interval.hpp"

namespace epsilog::engine {

/// At one alpha; one element a cell, one in all without `by`.
struct CellIntervals {
  accounting::Rational alpha;
  /// Each contains its answer with probability at least 1 - alpha.
  std::vector<mechanisms::AnswerInterval> each;
  /// All of them together contain theirs with probability at least 1 - alpha. Empty for a single answer.
  std::vector<mechanisms::AnswerInterval> together;
  /// Of a ratio, all that it can be: where 0 is a plausible denominator, this is its interval, and is not
  /// shown.
  std::optional<mechanisms::AnswerInterval> everything = std::nullopt;

  [[nodiscard]] bool says_nothing(const mechanisms::AnswerInterval& interval) const {
    return everything && interval.low == everything->low && interval.high == everything->high;
  }
};

}  // namespace epsilog::engine
