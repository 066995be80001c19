// What a row's cell in the column asked about counts for, where only its presence and its value matter.
//
// Thread-safety: immutable values; a reading has one owner.
#pragma once

#include <cstddef>
#include <string>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/statistic.hpp"
#include "row_reading.hpp"

namespace epsilog::engine {

class CountedCells final {
 public:
  enum class By {
    every_value,  ///< the declared values in their order, then all others: what every statistic is made of
    statistic,    ///< what the statistic tells apart
  };
  /// Requires  derive() accepted a question with this statistic, which counts_cells(); the dataset outlives
  ///           this.
  CountedCells(const Dataset& dataset, const Statistic& statistic, By by, RowReading& reading);

  /// By the statistic, of count:C 0, of proportion:C:V 0 for V and 1 for another value, of distinct:C the
  /// place of the value among those declared. kNoIndex where the row does not count: its cell is missing or,
  /// of distinct by itself, its value none of those declared. A missing cell for which a constant stands in
  /// is that constant, as in --by.
  [[nodiscard]] std::size_t find(RowReading& reading) const {
    if (declared_only_) return reading.value_index_of(column_);
    if (!has_stand_in_ && reading.cell(column_).missing) return kNoIndex;
    if (category_count_ == 1) return 0;
    const std::size_t place = reading.value_index_of(column_);
    if (value_ != kNoIndex) return place == value_ ? 0 : 1;
    return place == kNoIndex ? category_count_ - 1 : place;
  }
  /// So many different places can be found.
  [[nodiscard]] std::size_t category_count() const noexcept { return category_count_; }
  /// Of a proportion, the place of V: among those declared, or the first of two.
  [[nodiscard]] std::size_t category_of(const std::string& value) const;

 private:
  By by_;
  const Column& declared_;
  bool has_stand_in_;
  bool declared_only_ = false;
  std::size_t column_;            ///< as the reading knows it
  std::size_t value_ = kNoIndex;  ///< of proportion by itself: the place of V among those declared
  std::size_t category_count_ = 1;
};

}  // namespace epsilog::engine
