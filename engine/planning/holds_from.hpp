// From which true size on intervals hold, given that they are shown narrower than the whole range.
//
// Law      mechanisms/proofs/intervals.md, "Given that it is shown".
// Rounds   Up: a size that is told is never too small.
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "plan.hpp"

namespace epsilog::engine {

/// Whether noise decides whether an interval is narrower than the whole range, or whether a cell is shown.
[[nodiscard]] bool shows_by_noise(const Plan& plan);

/// The level of the intervals of such a plan: 19/20 of alpha. The rest pays for what is not shown, which is
/// so with probability 1/20 at most from holds_from() on.
[[nodiscard]] Rational shown_alpha(const Plan& plan, const Rational& alpha);

/// What is known of the intervals of a plan at one alpha before anything is drawn.
struct IntervalReach {
  /// [component]: no interval of that component goes farther from its release; empty for a quotient.
  std::vector<Rational> of_components;
  /// Of a quotient alone: QuotientIntervals::largest(), and at how many released rows the whole range ends.
  Rational largest = 0;
  Rational absent = 0;
};

/// Returns [margin] the least size from which on an interval of so many `cells` together (1: of each by
/// itself) holds, given that it is shown narrower than the range; nothing where no size that the policy
/// allows is enough. `rows`: the plan is one of so many rows of a batch whose intervals hold together.
/// Requires  no quantiles; cells >= 1; rows >= 1.
[[nodiscard]] std::vector<std::optional<Rational>> holds_from(const Plan& plan, const IntervalReach& reach,
                                                              std::size_t cells, std::size_t rows);

/// Returns what `suppress_below` looks at: for each cell, its count as it was released. A table with totals
/// and an answer that is drawn as it is shown are counts themselves; of a quotient the last component is.
/// Requires  a question that takes suppress_below().
[[nodiscard]] std::span<const Rational> released_counts(accounting::PostProcessing::Kind kind,
                                                        const std::vector<std::vector<Rational>>& components,
                                                        std::span<const Rational> values);

/// Returns the ends between which the answers of that component are released as themselves; whole ones if
/// they are shown so.
[[nodiscard]] mechanisms::AnswerInterval released_range(const Plan& plan, std::size_t component);

}  // namespace epsilog::engine
