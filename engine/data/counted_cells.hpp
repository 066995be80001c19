// What a row's cell in the column asked about counts for, where only its presence and its value matter.
//
// Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "column_cell.hpp"
#include "column_reader.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/statistic.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

class CountedCells final {
 public:
  /// Requires  derive() accepted a question with this statistic, which counts_cells(); `wanted` is the
  ///           order of a row's cells and holds the column that the statistic's is read from.
  CountedCells(const Dataset& dataset, const Statistic& statistic, const std::vector<std::string>& wanted);

  /// Of count:C 0, of proportion:C:V 0 for V and 1 for another value, of distinct:C the place of the value
  /// among those declared; nothing where the row does not count: its cell is missing or, of distinct, its
  /// value none of those declared. A missing cell for which a constant stands in is that constant, as in
  /// --by.
  [[nodiscard]] std::optional<std::size_t> find(std::span<const RawCell> cells) const;
  /// So many different places can be found.
  [[nodiscard]] std::size_t places() const noexcept { return places_; }

 private:
  StatisticKind kind_;
  std::size_t at_;
  ColumnReader reader_;
  bool has_stand_in_;
  std::optional<DeclaredValues> values_;  ///< but of count:C
  std::size_t value_ = 0;                 ///< of proportion: the place of V among those declared
  std::size_t places_ = 1;
};

}  // namespace epsilog::engine
