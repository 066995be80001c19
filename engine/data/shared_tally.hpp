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
#include "joint_cells.hpp"
#include "row_tally.hpp"

namespace epsilog::engine {

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
