// The part of (epsilon, delta) that composes on its own: with probability delta_i all is lost.
//
// An (epsilon, delta)-DP mechanism is a function of an epsilon-DP one that also, with probability delta,
// shows everything (Kairouz, Oh and Viswanath, arXiv 1311.0776, section 6; proof:
// accounting/proofs/composition.md, section 1). So k of them lose everything with probability 1 - prod (1 -
// delta_i), and are pure otherwise.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>

#include "epsilog/accounting/loss_group.hpp"

namespace epsilog::accounting {

/// 1 - (1 - rest) prod (1 - delta_i)^count_i, rounded up to 128 bits unless it is exact; at most 1.
/// Requires  groups as optimal_delta_up; 0 <= rest <= 1.
/// Throws    InvalidParameter.
[[nodiscard]] Rational failure_probability_up(std::span<const LossGroup> groups, const Rational& rest);

/// The largest `rest` with which that is at most delta, rounded down; nullopt if there is none, or
/// if rounding leaves it below 0.
/// Requires  groups as optimal_delta_up; 0 <= delta <= 1.
/// Throws    InvalidParameter.
[[nodiscard]] std::optional<Rational> remaining_delta_down(std::span<const LossGroup> groups,
                                                           const Rational& delta);

/// Throws  InvalidParameter unless the groups are as optimal_delta_up requires.
void require_groups(std::span<const LossGroup> groups);

/// The sum of count_i epsilon_i, exact.
[[nodiscard]] Rational total_epsilon(std::span<const LossGroup> groups);
/// The sum of count_i delta_i, exact; at most 1.
[[nodiscard]] Rational total_delta(std::span<const LossGroup> groups);

}  // namespace epsilog::accounting
