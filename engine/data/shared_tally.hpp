// A tally and the answers that are made of it: those that add up the same of the same rows, or of rows with
// the same condition in cells of different groupings. Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/exact_answer.hpp"
#include "row_selection.hpp"
#include "row_tally.hpp"

namespace epsilog::engine {

/// Cells of several answers at once: a row is in one of each, or in none of it, and so in one of their
/// combinations. What is added up in these is added up once for answers with different groupings; a cell of
/// one answer is the sum of the combinations that it is part of. An immutable value.
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

class SharedTally final {
 public:
  /// Of one question so far. `candidates`: of the column of a quantile, else 1.
  /// Requires  what is referred to outlives this.
  SharedTally(const Dataset& dataset, const DerivedQuestion& asked, const RowSelection& selection,
              std::uint64_t candidates);

  /// Whether the other's answers can be made of this one, which from then on is about them, too.
  bool takes(const SharedTally& other);
  /// Once all questions are known. `candidate`: of quantiles.
  void make(const Dataset& dataset, const std::shared_ptr<RowCandidate>& candidate, RowReading& reading);
  [[nodiscard]] const Statistic& statistic() const { return asked_->question.statistic; }
  [[nodiscard]] const JointCells& cells() const { return cells_; }

  /// Of the rows that are in one of cells().
  /// Requires  made.
  [[nodiscard]] RowTally& tally() { return *tally_; }
  [[nodiscard]] bool keeps_row_count() const { return keeps_row_count_; }
  /// After the last row.
  /// Requires  the question was taken, and is about the selection.
  [[nodiscard]] ExactAnswer answer(const DerivedQuestion& asked, const RowSelection& selection) const;

 private:
  using Counts = std::vector<std::vector<mechanisms::CandidateRows>>;

  [[nodiscard]] Counts counts(const DerivedQuestion& asked, const RowSelection& selection) const;
  [[nodiscard]] std::vector<Rational> values(const DerivedQuestion& asked, const RowSelection& selection,
                                             std::size_t index) const;
  [[nodiscard]] std::vector<Rational> values_of_table(const DerivedQuestion& asked,
                                                      const RowSelection& selection,
                                                      Component::Quantity quantity) const;

  const DerivedQuestion* asked_;  ///< one of those that have it
  std::string sums_;
  JointCells cells_;
  std::uint64_t counters_;  ///< of each cell
  CountedCells::By by_ = CountedCells::By::statistic;
  bool joins_ = false;  ///< whether what is added up in joint cells adds up to that of a cell
  bool keeps_row_count_;
  bool with_squares_ = false;
  std::unique_ptr<RowTally> tally_;
};

}  // namespace epsilog::engine
