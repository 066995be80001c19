// A predicate made ready for one dataset's cells: every constant is turned into the nearest cells
// around it once, so that comparisons are exact and cost no rational arithmetic per row.
// Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "column_cell.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {

class RowFilter final {
 public:
  /// Keeps every row.
  RowFilter() = default;
  /// Keeps the rows that satisfy every comparison.
  /// Requires  derive() accepted a predicate with these comparisons; `wanted` is the order of a row's
  ///           cells and holds every column they name; the cells are written in `dialect`.
  RowFilter(const Dataset& dataset, std::span<const Comparison> comparisons,
            const std::vector<std::string>& wanted, const CellDialect& dialect);

  [[nodiscard]] bool keeps(std::span<const RawCell> cells) const;

 private:
  struct Test {
    std::size_t cell;
    CellReader reader;
    ColumnType type;
    Comparison::Operator op;
    std::vector<FixedPlace> fixed;   ///< of = and in: those that are cells, ascending
    std::vector<RealPlace> real;     ///< likewise
    std::vector<std::string> texts;  ///< ascending
    bool when_missing;               ///< what the stand-in gives; false without one
  };

  [[nodiscard]] static bool holds(const Test& test, const RawCell& raw);

  std::vector<Test> tests_;
};

}  // namespace epsilog::engine
