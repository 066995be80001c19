// Which rows questions are about, and in which cell of their answers each is. Questions of a batch with one
// condition and one grouping are about the same rows, so that each row is decided once for all of them; what
// only one of the two is the same of is worked out once too.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/statistic.hpp"
#include "row_filter.hpp"
#include "row_reading.hpp"
#include "row_rules.hpp"

namespace epsilog::engine {

/// A condition, asked of each row once.
class RowCondition final {
 public:
  /// `columns`: as the reading knows those of the comparisons.
  RowCondition(RowFilter filter, std::vector<std::size_t> columns)
      : filter_(std::move(filter)), columns_(std::move(columns)) {}

  [[nodiscard]] bool keeps(RowReading& reading) {
    if (row_ != reading.row()) {
      keeps_ = filter_.keeps_read([&](std::size_t i) -> const Cell& { return reading.cell(columns_[i]); });
      row_ = reading.row();
    }
    return keeps_;
  }

 private:
  RowFilter filter_;
  std::vector<std::size_t> columns_;
  std::uint64_t row_ = 0;
  bool keeps_ = true;
};

/// Columns to group by, in whose cells each row is looked for once.
class RowGrouping final {
 public:
  RowGrouping(const Dataset& dataset, const std::vector<std::string>& by, RowReading& reading);

  /// kNoIndex: the row belongs to no cell of the answer.
  [[nodiscard]] std::size_t cell(RowReading& reading) {
    if (row_ != reading.row()) {
      cell_ = find_cell(reading);
      row_ = reading.row();
    }
    return cell_;
  }
  [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }

 private:
  struct Group {
    std::size_t column;
    std::size_t size;  ///< so many values
  };
  [[nodiscard]] std::size_t find_cell(RowReading& reading) const;

  std::vector<Group> groups_;
  std::uint64_t row_ = 0;
  std::size_t cell_ = kNoIndex;
};

/// The rows that are kept of each unit for questions with one condition and one grouping.
class RowSelection final {
 public:
  /// Requires  what is referred to outlives this.
  RowSelection(const Dataset& dataset, const std::vector<std::string>& columns, RowCondition& condition,
               RowGrouping& grouping)
      : rules_(dataset, columns), condition_(condition), grouping_(grouping) {}

  /// `standing`: of the row, of which every selection says the same.
  void take(RowRules::Fate standing, RowReading& reading, UnitOfRow& unit) {
    const auto asked = [&] {
      cell_ = condition_.keeps(reading) ? grouping_.cell(reading) : kNoIndex;
      return cell_ != kNoIndex;
    };
    if (rules_.fate(standing, unit, asked) != RowRules::Fate::kept) cell_ = kNoIndex;
  }

  /// Of the row that was taken last; kNoIndex if it is not kept.
  [[nodiscard]] std::size_t cell() const noexcept { return cell_; }
  [[nodiscard]] bool same_condition(const RowSelection& other) const noexcept {
    return &condition_ == &other.condition_;
  }
  [[nodiscard]] const RowRules& rules() const noexcept { return rules_; }
  [[nodiscard]] bool grouped() const noexcept { return !grouping_.empty(); }

 private:
  RowRules rules_;
  RowCondition& condition_;
  RowGrouping& grouping_;
  std::size_t cell_ = kNoIndex;
};

/// Makes what is the same of several questions once.
class RowSelections final {
 public:
  /// Requires  what is referred to outlives this.
  RowSelections(const Dataset& dataset, const std::vector<std::string>& columns, RowReading& reading)
      : dataset_(dataset), columns_(columns), reading_(reading), rules_of_all_(dataset, columns) {}

  /// By which at() knows the selection that the question is about.
  [[nodiscard]] std::size_t number_of(const Question& question);
  [[nodiscard]] const RowSelection& at(std::size_t number) const { return selections_[number].second; }

  void take(UnitOfRow& unit) {
    const RowRules::Fate standing = rules_of_all_.fate_before_question(reading_.cells());
    for (auto& [name, selection] : selections_) selection.take(standing, reading_, unit);
  }

 private:
  template <class Part>
  using Named = std::deque<std::pair<std::string, Part>>;  ///< which stay where they are

  [[nodiscard]] RowCondition& condition_of(const Question& question);
  [[nodiscard]] RowGrouping& grouping_of(const Question& question);

  const Dataset& dataset_;
  const std::vector<std::string>& columns_;
  RowReading& reading_;
  RowRules rules_of_all_;
  Named<RowCondition> conditions_;
  Named<RowGrouping> groupings_;
  Named<RowSelection> selections_;
};

}  // namespace epsilog::engine
