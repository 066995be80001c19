#include "epsilog/accounting/table_margins.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

constexpr std::size_t kColumnsMax = 16;

}  // namespace

TableMargins::TableMargins(std::vector<std::uint64_t> sizes) : sizes_(std::move(sizes)) {
  EPSILOG_INVARIANT(!sizes_.empty() && sizes_.size() <= kColumnsMax);
  for (std::size_t columns = 0; columns < std::size_t{1} << sizes_.size(); ++columns) {
    Margin margin;
    for (std::size_t column = 0; column < sizes_.size(); ++column) {
      if ((columns >> column & 1U) == 0) continue;
      margin.kept.push_back(column);
      margin.cells *= sizes_[column];
    }
    margins_.push_back(std::move(margin));
  }
  std::sort(margins_.begin(), margins_.end(), [](const Margin& one, const Margin& other) {
    return one.kept.size() != other.kept.size() ? one.kept.size() > other.kept.size() : one.kept < other.kept;
  });
  for (std::size_t i = 1; i < margins_.size(); ++i)
    margins_[i].first = margins_[i - 1].first + margins_[i - 1].cells;
}

std::uint64_t TableMargins::cells() const noexcept {
  return margins_.back().first + margins_.back().cells;
}

std::uint64_t TableMargins::within(const Margin& outer, const Margin& inner, std::uint64_t cell) const {
  std::uint64_t result = 0;
  std::uint64_t stride = 1;
  auto wanted = inner.kept.rbegin();
  for (auto column = outer.kept.rbegin(); column != outer.kept.rend(); ++column) {
    const std::uint64_t size = sizes_[*column];
    if (wanted != inner.kept.rend() && *wanted == *column) {
      result += cell % size * stride;
      stride *= size;
      ++wanted;
    }
    cell /= size;
  }
  return result;
}

}  // namespace epsilog::accounting
