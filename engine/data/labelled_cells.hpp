// Which labels of a derived column a row that satisfies a condition could have, by what the condition asks of
// that column and of the one that it is a function of.
//
// The cells of the latter are cut where a comparison tells two neighbours apart or a label ends. What one
// cell of a stretch satisfies, and which label it has, is so of all of them. Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cell_numbering.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/predicate.hpp"
#include "exact_sum.hpp"

namespace epsilog::engine {

class LabelledCells final {
 public:
  /// Requires  derive() accepted the predicate; column.derived; all three outlive this.
  LabelledCells(const Dataset& dataset, const Column& column, const Predicate& predicate);

  /// By place among the values of the column: whether some cell that has the label satisfies the predicate,
  /// every comparison with any third column being taken as satisfied.
  [[nodiscard]] std::vector<bool> satisfying() const;

 private:
  using Holds = std::vector<char>;  ///< of each of the cells

  [[nodiscard]] Holds holds(const Condition& part) const;
  [[nodiscard]] Holds holds(const Comparison& comparison) const;
  [[nodiscard]] Holds holds_of_labels(const Comparison& comparison) const;

  const Column& column_;
  const Predicate& predicate_;
  CellNumbering numbering_;
  std::map<std::string_view, std::size_t> labels_;  ///< with their places
  // Of cells of the source that have a label, in order.
  std::vector<Int128> numbers_;
  std::vector<std::size_t> label_;
};

}  // namespace epsilog::engine
