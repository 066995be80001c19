// Optimal composition of mechanisms of which only (epsilon, delta) is known.
//
// Measure   Approximate DP. Every bound here is for parameters that are fixed in advance: which mechanism is
//           run may depend on earlier answers, its (epsilon, delta) may not. It is no filter and no odometer.
// Proof     accounting/proofs/composition.md, sections 2 to 5.
// Method    One epsilon only: sums of binomial terms. Few different ones: all sign classes. Both exact but
//           for rounding of 2^-100. Many: the law of the loss on a grid, each atom split onto its two
//           neighbours so that both of its probabilities stay, which can only raise the result; its error is
//           stated in section 5.
// Rounds    Up. Enclosures are refined until the result is within the stated distance.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>

#include "epsilog/accounting/loss_group.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// How the law of the losses is formed; `automatic` takes the most exact one that is affordable.
enum class OptimalMethod { automatic, sign_classes, grid };

/// The least delta with which the composition of any such mechanisms is (epsilon, delta)-DP.
/// Ensures   at most 2^-100 of it above the least delta, or wider with the grid; 0 exactly where it is 0; at
///           most 1.
/// Requires  epsilon >= 0; epsilon of each group >= 0, at most 10^8 in all, delta in [0, 1]; 1 <= count <=
///           kComposedMax, also in all; sign_classes: at most 2^16 classes.
/// Throws    InvalidParameter naming the argument.
/// Source    Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", arXiv 1311.0776,
///           theorem 3.3 (equal parameters); Murtagh and Vadhan, "The complexity of computing the optimal
///           composition of differential privacy", arXiv 1507.03113, theorem 1.5.
[[nodiscard]] Rational optimal_delta_up(std::span<const LossGroup> groups, const Rational& epsilon,
                                        OptimalMethod method = OptimalMethod::automatic);

/// The least epsilon >= 0 with which the composition is (epsilon, delta)-DP; nullopt if there is none, which
/// is when 1 - prod (1 - delta_i)^count_i is above delta.
/// Ensures   above the least one by rounding only, or wider with the grid; never above the sum.
/// Requires  0 <= delta <= 1, and as optimal_delta_up.
/// Throws    InvalidParameter naming the argument.
/// Source    as optimal_delta_up.
[[nodiscard]] std::optional<Rational> optimal_epsilon_up(std::span<const LossGroup> groups,
                                                         const Rational& delta,
                                                         OptimalMethod method = OptimalMethod::automatic);

}  // namespace epsilog::accounting
