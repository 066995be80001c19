#include "joint_cells.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

bool JointCells::has(const RowSelection& selection) const {
  return std::any_of(axes_.begin(), axes_.end(),
                     [&selection](const Axis& axis) { return axis.selection == &selection; });
}

std::size_t JointCells::size() const {
  if (!joint()) return axes_.front().cells;
  return axes_.back().stride * (axes_.back().cells + 1);
}

std::size_t JointCells::size_with(std::size_t cells) const {
  return axes_.back().stride * (axes_.back().cells + 1) * (cells + 1);
}

void JointCells::add(const RowSelection& selection, std::size_t cells) {
  axes_.push_back({&selection, cells, axes_.back().stride * (axes_.back().cells + 1)});
}

std::vector<std::size_t> JointCells::of_cell(const RowSelection& selection, std::size_t cell) const {
  const auto axis = std::find_if(axes_.begin(), axes_.end(),
                                 [&selection](const Axis& one) { return one.selection == &selection; });
  EPSILOG_INVARIANT(axis != axes_.end());
  if (!joint()) return {cell};
  std::vector<std::size_t> parts;
  for (std::size_t place = 0; place < size(); ++place) {
    if (place / axis->stride % (axis->cells + 1) == cell) parts.push_back(place);
  }
  return parts;
}

}  // namespace epsilog::engine
