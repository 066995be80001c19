// Cells of several answers at once: a row is in one of each, or in none of it, and so in one of their
// combinations. What is added up in these is added up once for answers with different groupings; a cell of
// one answer is the sum of the combinations that it is part of. Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <vector>

#include "row_selection.hpp"

namespace epsilog::engine {

class JointCells final {
 public:
  /// `cells`: so many has an answer about the selection, which outlives this.
  JointCells(const RowSelection& selection, std::size_t cells) : axes_{{&selection, cells, 1}} {}

  /// Whether they are of more than one selection.
  [[nodiscard]] bool joint() const noexcept { return axes_.size() > 1; }
  [[nodiscard]] bool has(const RowSelection& selection) const;
  /// How many there would be with another selection: of each all its cells, and none.
  [[nodiscard]] std::size_t size_with(std::size_t cells) const;
  void add(const RowSelection& selection, std::size_t cells);

  [[nodiscard]] std::size_t size() const;
  /// Of the row that was taken last; kNoIndex if it is in no cell of any.
  [[nodiscard]] std::size_t of_row() const {
    if (!joint()) return axes_.front().selection->cell();
    std::size_t place = 0;
    bool in_some = false;
    for (const Axis& axis : axes_) {
      const std::size_t cell = axis.selection->cell();
      in_some = in_some || cell != kNoIndex;
      place += (cell == kNoIndex ? axis.cells : cell) * axis.stride;
    }
    return in_some ? place : kNoIndex;
  }
  /// Those that the cell of the answer about that selection is the sum of.
  [[nodiscard]] std::vector<std::size_t> of_cell(const RowSelection& selection, std::size_t cell) const;
  /// The first of them, of all of which the condition is the same.
  [[nodiscard]] const RowSelection& selection() const { return *axes_.front().selection; }

  friend bool operator==(const JointCells&, const JointCells&) = default;

 private:
  struct Axis {
    const RowSelection* selection;
    std::size_t cells;
    std::size_t stride;

    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::vector<Axis> axes_;
};

}  // namespace epsilog::engine
