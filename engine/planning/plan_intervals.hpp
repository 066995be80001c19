// The intervals of whatever a plan releases: its laws, inverted once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "epsilog/engine/cell_intervals.hpp"
#include "epsilog/mechanisms/quotient_interval.hpp"
#include "holds_from.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// Thread-safety: immutable.
class PlanIntervals final {
 public:
  /// `rows`: the plan is one of so many rows of a batch, whose intervals hold together at these alphas if
  /// each of them is the rows-th part of another.
  /// Requires  each of `alphas` strictly between 0 and 1; rows >= 1.
  PlanIntervals(const Plan& plan, std::span<const Rational> alphas, std::size_t rows = 1);

  [[nodiscard]] const std::vector<Rational>& alphas() const noexcept { return alphas_; }
  /// Returns [alpha] from which true size on the intervals of all groups hold.
  [[nodiscard]] std::vector<PlannedSizes> sizes() const;
  /// Returns [alpha] the intervals of the answers as they are told, after post-processing. Every answer has
  /// one, within its public range, and on the lattice of the answers where there is one:
  /// - what is drawn once, and each margin of a table with totals: by its law;
  /// - a quotient of two parts: by the law of both together; where its divisor may be 0, the whole range;
  /// - a variance and a ratio: all that they can be while each part is in an interval of its own; where the
  ///   divisor may be 0, the whole range;
  /// - a table made consistent: what its draws leave, each in an interval of its own, once they add up;
  /// - a cell that is not shown, and a quantile: the whole range.
  /// Quotients are of cells with at least one row (mechanisms/proofs/quotients.md). Empty where nothing was
  /// released, and where components [component][cell] and values [cell] are not of a release of this plan, as
  /// a damaged record may have it.
  [[nodiscard]] std::vector<CellIntervals> of(const std::vector<std::vector<Rational>>& components,
                                              std::span<const Rational> values) const;

 private:
  using Interval = mechanisms::AnswerInterval;

  /// Of one alpha.
  struct InvertedLaws {
    std::vector<mechanisms::AnswerIntervals> parts;         ///< [component]; empty where one of them has none
    std::vector<mechanisms::AnswerIntervals> box;           ///< of a table made consistent, for all draws
    std::optional<mechanisms::QuotientIntervals> quotient;  ///< nothing where nothing is said at this alpha
    Rational absent;  ///< of a quotient: where so many rows or fewer are released, there may be none
    std::vector<std::optional<Rational>> holds_from;  ///< [group]
  };
  enum class Cells { each, together };

  [[nodiscard]] InvertedLaws invert_laws(const Plan& plan, const Rational& alpha, Cells which,
                                         std::size_t rows) const;
  [[nodiscard]] std::vector<mechanisms::AnswerIntervals> laws(const Plan& plan, const Rational& alpha) const;
  [[nodiscard]] InvertedLaws invert_quotient(const Plan& plan, const Rational& alpha) const;

  [[nodiscard]] std::vector<Interval> answer_intervals(const InvertedLaws& inverted,
                                                       const std::vector<std::vector<Rational>>& components,
                                                       std::span<const Rational> values) const;
  [[nodiscard]] std::vector<Interval> of_drawn(const std::vector<mechanisms::AnswerIntervals>& laws,
                                               std::size_t part, std::span<const Rational> drawn) const;
  [[nodiscard]] std::vector<Interval> of_quotients(const InvertedLaws& inverted,
                                                   const std::vector<std::vector<Rational>>& components,
                                                   std::span<const Rational> values) const;
  [[nodiscard]] std::vector<Interval> of_consistent(const InvertedLaws& inverted,
                                                    const std::vector<std::vector<Rational>>& components,
                                                    std::span<const Rational> values) const;
  [[nodiscard]] std::vector<Interval> of_boxes(const InvertedLaws& inverted,
                                               const std::vector<std::vector<Rational>>& components,
                                               std::size_t cells) const;
  /// Of the cell whose parts these are.
  [[nodiscard]] Interval quotient(const InvertedLaws& inverted, const Rational& dividend,
                                  const Rational& divisor) const;
  /// Whether they are as many as a release of the plan has.
  [[nodiscard]] bool are_whole(const std::vector<std::vector<Rational>>& components,
                               std::span<const Rational> values) const;

  std::vector<Rational> alphas_;
  accounting::PostProcessing recipe_;
  std::vector<std::optional<Rational>> steps_;  ///< of the lattice of each component
  std::vector<Interval> ranges_;                ///< of each component
  std::vector<std::size_t> drawn_;              ///< values of each component
  std::vector<CellGroup> groups_;               ///< without sizes, which each alpha has of its own
  std::optional<Rational> suppress_below_;
  std::optional<accounting::TableMargins> margins_;  ///< of a table with totals
  std::vector<InvertedLaws> each_;                   ///< [alpha]
  std::vector<InvertedLaws> together_;               ///< [alpha]; empty without cells
};

}  // namespace epsilog::engine
