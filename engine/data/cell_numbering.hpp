// The cells that a column can have, numbered in their order, and which of them satisfy a comparison. What a
// column asks of whole conditions is decided on these numbers: whether any cell satisfies it, which blocks it
// covers.
//
// Int, decimal, bool and date are numbered as they are read; the binary64 numbers as they follow one another;
// of texts those that a condition names, and one number for all others; of a derived column the cells are
// labels. A missing cell has a number of its own. Thread-safety: immutable values.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "column_cell.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/predicate.hpp"
#include "value_set.hpp"

namespace epsilog::engine {

class CellNumbering final {
 public:
  struct NumberedCell {
    Int128 number;
    Cell cell;
  };

  /// Requires  derive() accepted the predicate; all three outlive this.
  CellNumbering(const Dataset& dataset, const Column& column, const Predicate& predicate);

  /// The cells that satisfy it. A text that the source takes as missing is no cell.
  /// Requires  a comparison of the predicate with this column.
  [[nodiscard]] ValueSet satisfying(const Comparison& comparison) const;
  /// The cells that satisfy the whole predicate.
  /// Requires  it compares no other column.
  [[nodiscard]] ValueSet satisfying_all() const;

  /// Cells that stand for all others, in the order of their numbers; the missing one is the last. Of two
  /// neighbouring numbers that are told apart by a comparison of the predicate with this column, or the
  /// second of which is a cell of `more`, the second is there; of a column of texts each text that a
  /// comparison names, and each of `more`. None is a text that the source takes as missing.
  /// Requires  the column is not derived; the cells of `more` are of its type, their texts outlive the
  /// result.
  [[nodiscard]] std::vector<NumberedCell> samples(const std::vector<Cell>& more) const;

 private:
  struct NumberBracket {
    Int128 up;    ///< the number of the first cell that is not below the constant
    Int128 down;  ///< of the last one that is not above it
  };

  /// Of a derived column: which of the texts are no label that a cell can have, and whether none can be
  /// missing.
  [[nodiscard]] std::vector<Int128> no_labels(const Dataset& dataset);
  [[nodiscard]] NumberBracket numbers_around(const Comparison::Constant& constant) const;
  [[nodiscard]] Int128 number(const Cell& cell) const;
  /// Where a comparison with this column may become true or false: the constants, and what is behind them.
  [[nodiscard]] std::vector<Int128> breakpoints() const;
  /// Of the numbers from least_ to most_ those that a comparison with constants leaves.
  [[nodiscard]] ValueSet left_by(const Comparison& comparison) const;
  [[nodiscard]] ValueSet satisfying(const Condition& part) const;

  const Column& column_;
  const Predicate& predicate_;
  Int128 least_ = 0;
  Int128 most_ = 0;
  std::map<std::string_view, Int128> texts_;  ///< that the predicate names
  ValueSet cells_;
  bool can_be_missing_ = true;
};

}  // namespace epsilog::engine
