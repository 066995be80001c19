// A predicate made ready for one dataset's cells: every constant is turned into the nearest cells
// around it once, so that comparisons are exact and cost no rational arithmetic per row.
// Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "column_cell.hpp"
#include "column_reader.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {

class RowFilter final {
 public:
  /// Keeps every row.
  RowFilter() = default;
  /// Keeps the rows that satisfy the predicate.
  /// Requires  derive() accepted it; `wanted` is the order of a row's cells and holds every column that those
  ///           it names are read from; the cells are written in `dialect`.
  RowFilter(const Dataset& dataset, const Predicate& predicate, const std::vector<std::string>& wanted,
            const CellDialect& dialect);

  [[nodiscard]] bool keeps(std::span<const RawCell> cells) const;
  /// The same of cells that were read: `cell_of(i)` is that of the column of comparison i of the predicate.
  template <class CellOf>
  [[nodiscard]] bool keeps_read(const CellOf& cell_of) const {
    std::size_t at = tests_.empty() ? kKeep : 0;
    while (at < tests_.size()) at = holds(tests_[at], cell_of(at)) ? tests_[at].if_true : tests_[at].if_false;
    return at == kKeep;
  }

 private:
  struct Test {
    std::size_t cell;
    ColumnReader reader;
    ColumnType type;
    Comparison::Operator op;
    std::vector<FixedRounding> fixed;  ///< of =, in and not in: those that are cells, ascending
    std::vector<RealRounding> real;    ///< likewise
    std::vector<std::string> texts;  ///< ascending
    bool when_missing;               ///< holds_for_missing()
    std::size_t if_true = 0;         ///< which test decides then, or kKeep or kDrop
    std::size_t if_false = 0;
  };
  static constexpr std::size_t kKeep = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kDrop = kKeep - 1;

  void link(const Condition& part, std::size_t if_true, std::size_t if_false);
  [[nodiscard]] static bool holds(const Test& test, const Cell& cell);

  std::vector<Test> tests_;  ///< one a comparison, in its order; the first begins
};

/// Whether a missing cell of the column satisfies a comparison: as its stand-in does, or if none stands in
/// for it, `is missing` alone.
/// Requires  derive() accepted a predicate with it; it compares this column.
[[nodiscard]] bool holds_for_missing(const Column& column, const Comparison& comparison);

}  // namespace epsilog::engine
