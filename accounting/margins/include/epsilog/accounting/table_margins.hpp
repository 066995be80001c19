// A table by columns and its margins: what sums over some of the columns leave of it.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epsilog::accounting {

/// Cells are numbered as in the table, that of the last column changing fastest.
class TableMargins final {
 public:
  struct Margin {
    std::vector<std::size_t> kept;  ///< the columns that are not summed over, ascending
    std::uint64_t cells = 1;        ///< combinations of theirs
    std::uint64_t first = 0;        ///< where its first cell stands among those of all margins
  };

  /// Of a table by so many columns, each with so many values: at least one, their product below 2^53.
  explicit TableMargins(std::vector<std::uint64_t> sizes);

  /// The table itself, which keeps all columns, then its margins: those that keep more first, and of as many
  /// those of earlier columns. Each set of columns once, 2^columns in all; the last keeps none.
  [[nodiscard]] const std::vector<Margin>& all() const noexcept { return margins_; }
  [[nodiscard]] const Margin& table() const noexcept { return margins_.front(); }
  /// Of all margins together, that of the table counted.
  [[nodiscard]] std::uint64_t cells() const noexcept;
  /// How many values a column has.
  [[nodiscard]] std::uint64_t size(std::size_t column) const { return sizes_.at(column); }
  /// How many cells of the table are summed in each of the margin.
  [[nodiscard]] std::uint64_t summed_in(const Margin& margin) const noexcept {
    return table().cells / margin.cells;
  }
  /// The cell of `inner` in which that one of `outer` is summed.
  /// Requires  both are of all(), and what `inner` keeps `outer` does; cell < outer.cells.
  [[nodiscard]] std::uint64_t within(const Margin& outer, const Margin& inner, std::uint64_t cell) const;

 private:
  std::vector<std::uint64_t> sizes_;
  std::vector<Margin> margins_;
};

}  // namespace epsilog::accounting
