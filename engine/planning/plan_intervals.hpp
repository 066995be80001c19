// The intervals of whatever a plan releases: its laws, inverted once.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "epsilog/engine/cell_intervals.hpp"
#include "epsilog/mechanisms/quotient_interval.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// Thread-safety: immutable.
class PlanIntervals final {
 public:
  /// Requires  each of `alphas` strictly between 0 and 1.
  PlanIntervals(const Plan& plan, std::span<const Rational> alphas);

  [[nodiscard]] const std::vector<Rational>& alphas() const noexcept { return alphas_; }
  /// Of the answers as they are told, after post-processing: [alpha]. Within the public range, and on the
  /// lattice of the answers where there is one. Of a quotient of two parts: by the law of both together; of a
  /// variance: all that it can be while each part is in an interval of its own, the parts together at
  /// 1 - alpha. Both for cells with at least one row (mechanisms/proofs/quotients.md). Of a table with totals
  /// each of its margins by its own law; none of one made consistent. Empty where nothing
  /// was released, and where components [component][cell] and values [cell] are not of a release of this
  /// plan, as a damaged record may have it.
  [[nodiscard]] std::vector<CellIntervals> of(const std::vector<std::vector<Rational>>& components,
                                              std::span<const Rational> values) const;

 private:
  /// Of one alpha.
  struct Inverted {
    std::vector<mechanisms::AnswerIntervals> parts;         ///< [component]; empty where one of them has none
    bool is_quotient = false;                               ///< then without parts
    std::optional<mechanisms::QuotientIntervals> quotient;  ///< nothing where nothing is said at this alpha
    Rational absent;  ///< of a quotient: where so many rows or fewer are released, there may be none
    [[nodiscard]] bool empty() const { return parts.empty() && !is_quotient; }
  };

  [[nodiscard]] Inverted inverted(const Plan& plan, const Rational& alpha, std::size_t cells) const;
  [[nodiscard]] Inverted inverted_quotient(const Plan& plan, const Rational& alpha) const;
  [[nodiscard]] std::vector<mechanisms::AnswerInterval> told(
      const Inverted& inverted, const std::vector<std::vector<Rational>>& components,
      std::span<const Rational> values) const;
  /// Of the cell whose parts these are.
  [[nodiscard]] mechanisms::AnswerInterval quotient(const Inverted& inverted, const Rational& dividend,
                                                    const Rational& divisor) const;

  std::vector<Rational> alphas_;
  accounting::PostProcessing recipe_;
  std::vector<std::optional<Rational>> steps_;      ///< of the lattice of each component
  std::vector<mechanisms::AnswerInterval> ranges_;  ///< of each component
  std::vector<std::size_t> drawn_;                  ///< values of each component
  std::vector<Inverted> each_;                      ///< [alpha]
  std::vector<Inverted> together_;                  ///< [alpha]; empty without cells
};

}  // namespace epsilog::engine
