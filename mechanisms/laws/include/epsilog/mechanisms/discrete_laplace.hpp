// The discrete Laplace law: scale, accuracy and tail, certified.
//
// Law       P(X = x) = tanh(1/(2s)) exp(-|x|/s) on the integers, s > 0 the scale.
// Accuracy  The smallest integer a with P(|X| >= a) <= alpha, so |X| <= a - 1 with probability at least
//           1 - alpha.
// Source    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms",
//           STOC 2009 (the law); the definition of accuracy is that of the discrete Gaussian law.
// Proof     mechanisms/proofs/discrete_accuracy.md, section 1.
// Rounds    Accuracies and tails up, scales down; decided by enclosures that are refined until they
//           cannot err.
// Cost      Microseconds at any scale.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

/// The smallest integer a with P(|X| >= a) <= alpha; at least 1.
/// Requires  scale > 0, 0 < alpha < 1.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Integer discrete_laplace_accuracy(const Rational& scale, const Rational& alpha);

/// The largest scale with P(|X| >= ceil(accuracy)) <= alpha: a dyadic number of 128 bits with the
/// property, less than 2^-100 of it below the largest real one. For integers |X| >= accuracy means
/// |X| >= ceil(accuracy).
/// Requires  accuracy > 0, 0 < alpha < 1.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational discrete_laplace_scale_down(const Rational& accuracy, const Rational& alpha);

/// P(|X| >= a), rounded up to a dyadic number of 128 bits, by less than 2^-100 of it; 2^-16384 where the
/// probability is smaller than that, and 1 for a <= 0.
/// Requires  scale > 0.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational discrete_laplace_tail_up(const Rational& scale, const Integer& a);

}  // namespace epsilog::mechanisms
