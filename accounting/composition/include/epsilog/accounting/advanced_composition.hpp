// Composition theorems in closed form: the sum, and what a small delta buys over it.
//
// Measure   Approximate DP. basic_* and fully_adaptive_* hold when every (epsilon_i, delta_i) is chosen after
//           all earlier answers, under limits on their sums that were fixed before the first: of those limits
//           they speak. advanced_* hold only for parameters fixed in advance.
// Proof     accounting/proofs/composition.md, sections 6 and 10.
// Notation  S = sum of epsilon_i^2, over all mechanisms; D = 1 - prod (1 - delta_i).
// Rounds    Up. Every result is exact or of 128 bits, within 2^-100 of the formula.
// Requires  of all: groups as optimal_delta_up, epsilon >= 0, 0 <= delta <= 1.
// Throws    of all: InvalidParameter naming the argument.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>

#include "epsilog/accounting/loss_group.hpp"

namespace epsilog::accounting {

/// The sum of the epsilons, if the sum of the deltas is at most delta; else nullopt. Exact.
/// Source  Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", theorem 3.16; adaptively
///         chosen parameters: Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters", arXiv
///         1605.08294.
[[nodiscard]] std::optional<Rational> basic_epsilon(std::span<const LossGroup> groups, const Rational& delta);
/// The sum of the deltas, at most 1, if the sum of the epsilons is at most epsilon; else nullopt. Exact.
[[nodiscard]] std::optional<Rational> basic_delta(std::span<const LossGroup> groups, const Rational& epsilon);

/// sum epsilon_i (e^epsilon_i - 1) + sqrt(2 S ln(1/slack)), slack = delta - sum delta_i; nullopt unless that
/// is positive.
/// Source  Dwork, Rothblum and Vadhan, "Boosting and differential privacy", FOCS 2010, theorem III.3; Dwork
///         and Roth, theorem 3.20.
[[nodiscard]] std::optional<Rational> dwork_rothblum_vadhan_epsilon_up(std::span<const LossGroup> groups,
                                                                       const Rational& delta);

/// The least of the sum of the epsilons, A + sqrt(2 S ln(e + sqrt(S)/slack)) and A + sqrt(2 S ln(1/slack)),
/// with A = sum epsilon_i (e^epsilon_i - 1)/(e^epsilon_i + 1) and 1 - (1 - slack)(1 - D) = delta; only the
/// sum when delta = D; nullopt when delta < D.
/// Source  Kairouz, Oh and Viswanath, arXiv 1311.0776, theorem 3.5.
[[nodiscard]] std::optional<Rational> advanced_epsilon_up(std::span<const LossGroup> groups,
                                                          const Rational& delta);
/// The least delta for which that epsilon is at most `epsilon`, at most 1.
[[nodiscard]] Rational advanced_delta_up(std::span<const LossGroup> groups, const Rational& epsilon);

/// S/2 + sqrt(2 S ln(1/slack)), slack = delta - sum delta_i; nullopt unless slack > 0.
/// Source  Whitehouse, Ramdas, Rogers and Wu, "Fully-adaptive composition in differential privacy", arXiv
///         2203.05481, theorem 2; proved as the filter of rho = S/2 beside the deltas, of which it is at
///         least the conversion. S and sum delta_i are the limits.
[[nodiscard]] std::optional<Rational> fully_adaptive_epsilon_up(std::span<const LossGroup> groups,
                                                                const Rational& delta);

}  // namespace epsilog::accounting
