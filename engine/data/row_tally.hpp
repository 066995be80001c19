// What is counted and added up of the rows that questions are about, in each cell of their answers. Questions
// of a batch that add up the same of the same rows, as the sum and the mean of a column do, have one tally.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "column_candidates.hpp"
#include "column_moments.hpp"
#include "counted_cells.hpp"
#include "epsilog/accounting/table_margins.hpp"
#include "epsilog/engine/derivation.hpp"
#include "row_reading.hpp"
#include "row_selection.hpp"
#include "row_units.hpp"

namespace epsilog::engine {

/// The candidate of a row's cell in one column, found once for all who count it.
class RowCandidate final {
 public:
  RowCandidate(const Column& column, ColumnCandidates candidates)
      : count_(candidates.count), finder_(column, std::move(candidates)) {}

  [[nodiscard]] const std::optional<std::uint64_t>& of(const Cell& cell, std::uint64_t row) {
    if (row_ != row) {
      found_ = finder_.find(cell);
      row_ = row;
    }
    return found_;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t count_;
  CandidateFinder finder_;
  std::uint64_t row_ = 0;
  std::optional<std::uint64_t> found_;
};

/// Of a statistic, what is added up of each row: the same text, the same sums. Not of value:NAME.
[[nodiscard]] std::string added_up(const Statistic& statistic);

class RowTally final {
 public:
  /// What tallies of several questions are made with.
  struct Asked {
    const Statistic& statistic;
    std::size_t cells;  ///< of its answer, of a proportion two for each of the groups
    std::optional<accounting::TableMargins> margins;  ///< of units with totals, counted in each of them
    bool with_squares;  ///< whether a question with the same sums wants those of squares
    /// Whether a row that is not kept has a value all the same: where there must be as many values as rows.
    bool keeps_all_places;
    std::shared_ptr<RowCandidate> candidate;  ///< of quantiles
  };
  RowTally(const Dataset& dataset, const Asked& asked, RowReading& reading);
  RowTally(const RowTally&) = delete;  // the moments point at the ranges
  RowTally& operator=(const RowTally&) = delete;

  /// A row that the selection keeps.
  void take(const RowSelection& selection, RowReading& reading);
  /// A row that it does not: where there must be as many values as rows it has one all the same.
  void take_left_out() {
    if (keeps_all_places_) add_left_out();
  }

  [[nodiscard]] std::size_t cells() const noexcept { return rows_.size(); }
  /// `cell`: of units with totals, of all margins.
  [[nodiscard]] Rational value(Component::Quantity quantity, const Rational& centre, std::size_t cell) const;
  /// Of quantiles.
  [[nodiscard]] std::vector<std::vector<mechanisms::CandidateRows>> counts() const {
    return nearest_->counts();
  }

 private:
  enum class Adds { rows, units, moments, pairs, candidates, counted, distinct };
  [[nodiscard]] static Adds adds_of(StatisticKind kind);

  void add_left_out();
  /// Of a ratio: a row without one of the two adds nothing to either sum.
  void add_pair(std::size_t cell, const Cell& value, const Cell& divisor);
  /// Of distinct the first row of each value in each cell, of a proportion the rows of either kind.
  void add_counted(std::size_t cell, RowReading& reading);
  /// In the cell, and with totals in each in which that is summed.
  void add_unit(const RowSelection& selection);
  [[nodiscard]] bool is_new_unit(const RowSelection& selection, std::size_t cell);

  Adds adds_;
  bool keeps_all_places_;
  std::optional<accounting::TableMargins> margins_;
  std::vector<std::uint64_t> rows_;  ///< by cell; of units how many of them
  std::optional<SeenPairs> seen_;    ///< of units by group, unit and cell; of distinct values, cell and value
  std::size_t column_ = 0;           ///< that is asked about, as the reading knows it
  std::optional<ColumnRange> range_;
  std::vector<ColumnMoments> moments_;
  std::size_t divisor_column_ = 0;  ///< of a ratio, as are the next two
  std::optional<ColumnRange> divisor_range_;
  std::vector<ColumnMoments> divisors_;
  std::shared_ptr<RowCandidate> candidate_;  ///< of quantiles, as is the next
  std::optional<CandidateTally> nearest_;
  std::optional<CountedCells> counted_;
};

}  // namespace epsilog::engine
