// What the cells of an answer are called: by the values of one column, or by those of several.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace epsilog::ledger {

/// Most cells of an answer by several columns, of whose combinations nothing else bounds the number.
inline constexpr std::uint64_t kCellsOfTableMax = 10'000;

/// One list of keys a column. The cells are all combinations of a key of each, that of the last column
/// changing fastest; without a column there are none, and the answer is a single number.
class CellKeys final {
 public:
  CellKeys() = default;
  /// Of one column; of none if there are no keys.
  CellKeys(std::vector<std::string> keys) {  // NOLINT(google-explicit-constructor): it is what it is
    if (!keys.empty()) lists_.push_back(std::move(keys));
  }
  explicit CellKeys(std::vector<std::vector<std::string>> lists) : lists_(std::move(lists)) {}

  [[nodiscard]] const std::vector<std::vector<std::string>>& lists() const noexcept { return lists_; }
  [[nodiscard]] bool empty() const noexcept { return lists_.empty(); }
  /// At most 2^64 - 1, which more are taken for.
  [[nodiscard]] std::uint64_t size() const noexcept {
    std::uint64_t cells = lists_.empty() ? 0 : 1;
    for (const auto& keys : lists_) {
      if (__builtin_mul_overflow(cells, std::uint64_t{keys.size()}, &cells)) return UINT64_MAX;
    }
    return cells;
  }
  /// Those of one cell, a column each; "" from size() on, where a damaged record may have values.
  [[nodiscard]] std::vector<std::string> of(std::uint64_t cell) const {
    std::vector<std::string> keys(lists_.size());
    if (cell >= size()) return keys;
    for (std::size_t i = lists_.size(); i-- > 0;) {
      keys[i] = lists_[i][cell % lists_[i].size()];
      cell /= lists_[i].size();
    }
    return keys;
  }

  friend bool operator==(const CellKeys&, const CellKeys&) = default;

 private:
  std::vector<std::vector<std::string>> lists_;
};

}  // namespace epsilog::ledger
