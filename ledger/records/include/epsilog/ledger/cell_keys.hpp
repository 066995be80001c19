// What the cells of an answer are called: by the values of one column, or by those of several.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/accounting/table_margins.hpp"

namespace epsilog::ledger {

/// Most cells of an answer by several columns, of whose combinations nothing else bounds the number; those of
/// its totals come to them.
inline constexpr std::uint64_t kCellsOfTableMax = 10'000;

/// One list of keys a column. The cells are all combinations of a key of each, that of the last column
/// changing fastest; without a column there are none, and the answer is a single number. With totals the
/// cells of each margin follow, as accounting::TableMargins orders them.
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
  [[nodiscard]] bool has_totals() const noexcept { return totals_; }
  /// Requires  there is a column, and table_size() <= kCellsOfTableMax or one column, if they have.
  void set_totals(bool totals) noexcept { totals_ = totals; }

  /// Without totals. At most 2^64 - 1, which more are taken for.
  [[nodiscard]] std::uint64_t table_size() const noexcept {
    std::uint64_t cells = lists_.empty() ? 0 : 1;
    for (const auto& keys : lists_) {
      if (__builtin_mul_overflow(cells, std::uint64_t{keys.size()}, &cells)) return UINT64_MAX;
    }
    return cells;
  }
  /// With those of all totals.
  [[nodiscard]] std::uint64_t size() const noexcept {
    if (!totals_) return table_size();
    std::uint64_t cells = 1;
    for (const auto& keys : lists_) cells *= keys.size() + 1;
    return cells;
  }
  /// Requires  has_totals().
  [[nodiscard]] accounting::TableMargins margins() const {
    std::vector<std::uint64_t> sizes;
    for (const auto& keys : lists_) sizes.push_back(keys.size());
    return accounting::TableMargins(std::move(sizes));
  }
  /// Those of one cell, a column each: none of a column that is summed over; "" from size() on, where a
  /// damaged record may have values.
  [[nodiscard]] std::vector<std::optional<std::string>> keys_of(std::uint64_t cell) const {
    std::vector<std::optional<std::string>> keys(lists_.size(), std::string());
    if (cell >= size()) return keys;
    if (cell < table_size()) {
      for (std::size_t i = lists_.size(); i-- > 0;) {
        keys[i] = lists_[i][cell % lists_[i].size()];
        cell /= lists_[i].size();
      }
      return keys;
    }
    const accounting::TableMargins margins = this->margins();
    std::size_t margin = 0;
    while (cell >= margins.all()[margin].first + margins.all()[margin].cells) ++margin;
    const std::vector<std::size_t>& kept = margins.all()[margin].kept;
    keys.assign(lists_.size(), std::nullopt);
    cell -= margins.all()[margin].first;
    for (std::size_t i = kept.size(); i-- > 0;) {
      const std::vector<std::string>& list = lists_[kept[i]];
      keys[kept[i]] = list[cell % list.size()];
      cell /= list.size();
    }
    return keys;
  }

  friend bool operator==(const CellKeys&, const CellKeys&) = default;

 private:
  std::vector<std::vector<std::string>> lists_;
  bool totals_ = false;
};

}  // namespace epsilog::ledger
