// The rules by which a row is dropped, in their order (docs/rows.md): outside every block, without a unit,
// not what was asked for, more than one unit may contribute. Every scan of rows goes through them.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "epsilog/engine/policy.hpp"
#include "row_source.hpp"
#include "row_units.hpp"

namespace epsilog::engine {

/// Requires  `wanted` is among the columns.
[[nodiscard]] std::size_t column_index(const std::vector<std::string>& columns, const std::string& wanted);

class RowRules final {
 public:
  enum class Fate { kept, outside_blocks, without_unit, not_selected, over_max_rows };

  /// Requires  `columns` are those of the cells: the unit id first, if any, and what blocks are read from.
  RowRules(const Dataset& dataset, const std::vector<std::string>& columns);

  /// Whether a row is dropped whatever is asked: outside_blocks, without_unit, else kept so far.
  [[nodiscard]] Fate fate_before_question(std::span<const RawCell> cells) const {
    if (block_ && !block_->contains(cells[block_column_])) return Fate::outside_blocks;
    return has_unit_ && cells[0].missing ? Fate::without_unit : Fate::kept;
  }
  /// Of a row with that standing. `asked()`, whether the question is about the row, decides after block and
  /// unit and before the bound: a row that is not asked about takes no place of its unit. `unit`: of the row;
  /// of no use where units have no ids.
  template <class IsAbout>
  [[nodiscard]] Fate fate(Fate standing, UnitOfRow& unit, const IsAbout& asked) {
    if (standing != Fate::kept) return standing;
    if (!asked()) return Fate::not_selected;
    if (!has_unit_) return Fate::kept;
    admission_ = bound_.admit(unit.number());
    return admission_.kept ? Fate::kept : Fate::over_max_rows;
  }

  /// Whether units have ids; otherwise each row is one.
  [[nodiscard]] bool has_unit() const noexcept { return has_unit_; }
  /// Of the last row that was kept.
  /// Requires  has_unit().
  [[nodiscard]] const ContributionBound::Admission& admission() const noexcept { return admission_; }

 private:
  bool has_unit_;
  std::size_t block_column_ = 0;
  std::optional<BlockMembership> block_;
  ContributionBound bound_;
  ContributionBound::Admission admission_{};
};

}  // namespace epsilog::engine
