// What is counted and added up of the rows that questions are about, in each cell of their answers. Questions
// of a batch that add up the same of the same rows, as the sum and the mean of a column do, have one tally,
// and so have those that do so in cells of different answers (JointCells).
// Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "column_candidates.hpp"
#include "column_moments.hpp"
#include "epsilog/accounting/table_margins.hpp"
#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/statistic.hpp"
#include "row_reading.hpp"
#include "row_selection.hpp"
#include "row_units.hpp"

namespace epsilog::engine {

/// What a row's cell in the column asked about counts for, where only its presence and its value matter.
class CountedCells final {
 public:
  enum class By {
    every_value,  ///< the declared values in their order, then all others: what every statistic is made of
    statistic,    ///< what the statistic tells apart
  };
  /// Requires  derive() accepted a question with this statistic, which counts_cells(); the dataset outlives
  ///           this.
  CountedCells(const Dataset& dataset, const Statistic& statistic, By by, RowReading& reading);

  /// By the statistic, of count:C 0, of proportion:C:V 0 for V and 1 for another value, of distinct:C the
  /// place of the value among those declared. kNoIndex where the row does not count: its cell is missing or,
  /// of distinct by itself, its value none of those declared. A missing cell for which a constant stands in
  /// is that constant, as in --by.
  [[nodiscard]] std::size_t find(RowReading& reading) const {
    if (declared_only_) return reading.value_index_of(column_);
    if (!has_stand_in_ && reading.cell(column_).missing) return kNoIndex;
    if (category_count_ == 1) return 0;
    const std::size_t place = reading.value_index_of(column_);
    if (value_ != kNoIndex) return place == value_ ? 0 : 1;
    return place == kNoIndex ? category_count_ - 1 : place;
  }
  /// So many different places can be found.
  [[nodiscard]] std::size_t category_count() const noexcept { return category_count_; }
  /// Of a proportion, the place of V: among those declared, or the first of two.
  [[nodiscard]] std::size_t category_of(const std::string& value) const;

 private:
  By by_;
  const Column& declared_;
  bool has_stand_in_;
  bool declared_only_ = false;
  std::size_t column_;            ///< as the reading knows it
  std::size_t value_ = kNoIndex;  ///< of proportion by itself: the place of V among those declared
  std::size_t category_count_ = 1;
};

/// The candidate of a row's cell in one column, found once for all who count it.
class RowCandidate final {
 public:
  RowCandidate(const Column& column, ColumnCandidates candidates)
      : count_(candidates.count), finder_(column, std::move(candidates)) {}

  /// As CandidateFinder::find().
  [[nodiscard]] std::uint64_t of(const Cell& cell, std::uint64_t row) {
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
  std::uint64_t found_ = CandidateFinder::kNone;
};

/// Of a statistic, what is added up of each row: the same text, the same sums. Not of value:NAME.
/// `by`: of one that counts_cells(), by what.
[[nodiscard]] std::string sharing_key(const Statistic& statistic, CountedCells::By by);

class RowTally final {
 public:
  /// What tallies of several questions are made with.
  struct TallySpec {
    const Statistic& statistic;
    std::size_t cells;                                ///< of its answer, or of joint ones
    std::optional<accounting::TableMargins> margins;  ///< of units with totals, counted in each of them
    CountedCells::By by;                              ///< of one that counts_cells()
    bool with_squares;  ///< whether a question with the same sums wants those of squares
    /// Whether a row that is not kept has a value all the same: where there must be as many values as rows.
    bool keeps_row_count;
    std::shared_ptr<RowCandidate> candidate;  ///< of quantiles
  };
  RowTally(const Dataset& dataset, const TallySpec& asked, RowReading& reading);
  RowTally(const RowTally&) = delete;  // the moments point at the ranges
  RowTally& operator=(const RowTally&) = delete;

  /// What is done with each row; `distinct`: of one by itself, the values that each cell has.
  enum class TallyKind { rows, units, moments, pairs, candidates, counted, distinct };
  static constexpr std::size_t kTallyKinds = 7;  ///< so many
  [[nodiscard]] TallyKind tally_kind() const noexcept { return tally_kind_; }

  /// A row in that cell. `selection`: of units, which keeps it.
  /// Requires  kHow == tally_kind(): who has many tallies goes through those of a kind together.
  template <TallyKind kHow>
  void take(std::size_t cell, const RowSelection& selection, RowReading& reading) {
    if constexpr (kHow == TallyKind::rows) {
      ++rows_[cell];
    } else if constexpr (kHow == TallyKind::units) {
      add_unit(selection);
    } else if constexpr (kHow == TallyKind::moments) {
      moments_[cell].add(reading.cell(column_));
    } else if constexpr (kHow == TallyKind::pairs) {
      add_pair(cell, reading.cell(column_), reading.cell(divisor_column_));
    } else if constexpr (kHow == TallyKind::candidates) {
      const std::uint64_t candidate = candidate_->of(reading.cell(column_), reading.row());
      if (candidate != CandidateFinder::kNone) nearest_->add(cell, candidate);
    } else {
      const std::size_t place = counted_->find(reading);
      if (place == kNoIndex) return;
      if constexpr (kHow == TallyKind::counted) {
        ++rows_[cell * counted_->category_count() + place];
      } else if (seen_->insert(cell, place)) {
        ++rows_[cell];
      }
    }
  }
  /// A row that is in none: where there must be as many values as rows it has one all the same.
  void take_left_out() {
    if (keeps_row_count_) add_left_out();
  }

  /// Of these cells together; of units with totals the cells are those of all margins.
  using Cells = std::span<const std::size_t>;
  [[nodiscard]] Rational value(Component::Quantity quantity, const Rational& centre, Cells cells) const;
  /// Of count:C, distinct:C and, of proportion:C:V, the rows with V or those with another value.
  [[nodiscard]] Rational counted(const Statistic& statistic, bool with_value, Cells cells) const;
  /// Of quantiles: [cell].
  [[nodiscard]] std::vector<std::vector<mechanisms::CandidateRows>> counts() const {
    return nearest_->counts();
  }
  [[nodiscard]] std::vector<mechanisms::CandidateRows> counts_of(Cells cells) const {
    return nearest_->counts_of(cells);
  }

 private:
  [[nodiscard]] static TallyKind tally_kind_of(StatisticKind kind, CountedCells::By by);

  void add_left_out();
  /// Of a ratio: a row without one of the two adds nothing to either sum.
  void add_pair(std::size_t cell, const Cell& value, const Cell& divisor);
  /// In the cell, and with totals in each in which that is summed.
  void add_unit(const RowSelection& selection);
  [[nodiscard]] bool is_new_unit(const RowSelection& selection, std::size_t cell);

  TallyKind tally_kind_;
  bool keeps_row_count_;
  std::optional<accounting::TableMargins> margins_;
  /// By cell; of units how many of them, of values that are counted by cell and place.
  std::vector<std::uint64_t> rows_;
  std::optional<SeenPairs> seen_;  ///< of units by group, unit and cell; of distinct values, cell and value
  std::size_t column_ = 0;         ///< that is asked about, as the reading knows it
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
