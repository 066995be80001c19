// The cells of one row as values, each read when it is first asked for: questions of a batch that ask about
// the same column read it once. Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "column_reader.hpp"
#include "epsilog/engine/policy.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

class RowReading final {
 public:
  /// Requires  `columns` are those of the cells; both outlive this.
  RowReading(const Dataset& dataset, const std::vector<std::string>& columns)
      : dataset_(dataset), columns_(columns) {}

  /// By which cell() knows a declared column, derived ones too.
  /// Requires  the column that it is read from is among the columns.
  [[nodiscard]] std::size_t number_of(const std::string& column);

  /// Ensures  until the next call, cell() is about these.
  void begin(std::span<const RawCell> cells) {
    cells_ = cells;
    ++row_;
  }
  [[nodiscard]] const Cell& cell(std::size_t number) {
    CachedCell& read = read_[number];
    if (read.row != row_) {
      read.reader.read(cells_[read.place], read.cell);
      read.row = row_;
    }
    return read.cell;
  }
  /// Where the cell stands among the declared values of its column, as DeclaredValues::find() has it.
  [[nodiscard]] std::size_t value_index_of(std::size_t number) {
    CachedCell& read = read_[number];
    if (read.placed != row_) {
      read.value_index = read.values.find(cell(number));
      read.placed = row_;
    }
    return read.value_index;
  }
  [[nodiscard]] std::span<const RawCell> cells() const noexcept { return cells_; }
  /// Counts the rows that were begun.
  [[nodiscard]] std::uint64_t row() const noexcept { return row_; }

 private:
  struct CachedCell {
    std::string name;
    std::size_t place;
    ColumnReader reader;
    DeclaredValues values;
    std::uint64_t row = 0;  ///< of which `cell` is
    Cell cell = {};
    std::uint64_t placed = 0;  ///< of which row the next is
    std::size_t value_index = kNoIndex;
  };

  const Dataset& dataset_;
  const std::vector<std::string>& columns_;
  std::vector<CachedCell> read_;
  std::span<const RawCell> cells_;
  std::uint64_t row_ = 0;
};

}  // namespace epsilog::engine
