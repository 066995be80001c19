// What a row's cell in the column asked about counts for, where only its presence and its value matter.
//
// Thread-safety: immutable values; a reading has one owner.
#pragma once

#include <cstddef>
#include <optional>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/statistic.hpp"
#include "row_reading.hpp"

namespace epsilog::engine {

class CountedCells final {
 public:
  /// Requires  derive() accepted a question with this statistic, which counts_cells().
  CountedCells(const Dataset& dataset, const Statistic& statistic, RowReading& reading);

  /// Of count:C 0, of proportion:C:V 0 for V and 1 for another value, of distinct:C the place of the value
  /// among those declared; nothing where the row does not count: its cell is missing or, of distinct, its
  /// value none of those declared. A missing cell for which a constant stands in is that constant, as in
  /// --by.
  [[nodiscard]] std::optional<std::size_t> find(RowReading& reading) const {
    if (kind_ == StatisticKind::distinct) return reading.place(column_);
    if (!has_stand_in_ && reading.cell(column_).missing) return std::nullopt;
    if (kind_ == StatisticKind::count_of) return 0;
    return reading.place(column_) == value_ ? 0 : 1;
  }
  /// So many different places can be found.
  [[nodiscard]] std::size_t places() const noexcept { return places_; }

 private:
  StatisticKind kind_;
  bool has_stand_in_;
  std::size_t column_;     ///< as the reading knows it
  std::size_t value_ = 0;  ///< of proportion: the place of V among those declared
  std::size_t places_ = 1;
};

}  // namespace epsilog::engine
