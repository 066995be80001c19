// Rows that nobody has: a function of a dataset's declarations, for dummy runs.
//
// Count     `rows: {exact: N}`: N; `rows: {max: N}`: half of N, rounded up; at most kInventedRowsMax.
// Units     are called 1, 2, 3, … and have 1, 2, …, max_rows rows, over and over again.
// Cells     Of every other column one cell in twenty is missing. The others are spread evenly, and
//           independently of each other, over the declared values; else over 1,001 steps from bound to bound,
//           rounded down to what the type can write; else over the days of the blocks; else over what the
//           first column that is derived from it names: its bins, its periods, or the values that it maps
//           and one more; else, in a column that only conditions can be about, over 0 to 100, the days of
//           2000 to 2024, or the texts 1 to 100. Which it is follows from the places of row and column by
//           splitmix64. Derived columns are derived.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

inline constexpr std::uint64_t kInventedRowsMax = 100'000;

/// How many rows are invented of a dataset.
[[nodiscard]] std::uint64_t invented_rows(const Dataset& dataset);

class InventedRows final : public RowSource {
 public:
  /// Requires  `wanted` are declared columns that are not derived, or the unit id, of the dataset.
  InventedRows(const Dataset& dataset, const std::vector<std::string>& wanted);

  Record next(std::span<RawCell> cells) override;
  [[nodiscard]] double fraction_read() const override;

 private:
  struct Maker {
    bool is_unit = false;
    std::uint64_t salt = 0;          ///< of the column
    std::vector<std::string> texts;  ///< that a cell can be
  };

  void next_unit_row();

  std::vector<Maker> makers_;
  std::uint64_t count_;
  std::uint64_t max_rows_;  ///< of a unit
  std::uint64_t at_ = 0;    ///< rows made so far
  std::uint64_t unit_ = 0;
  std::uint64_t rows_of_unit_ = 0;  ///< that this one has in all
  std::uint64_t rows_left_ = 0;     ///< that it still gets
  std::string unit_text_;
};

}  // namespace epsilog::engine
