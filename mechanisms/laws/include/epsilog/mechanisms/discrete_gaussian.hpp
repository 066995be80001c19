// The discrete Gaussian law: scale, accuracy and tail, certified.
//
// Law       P(X = x) = exp(-x^2/(2 s^2)) / sum_z exp(-z^2/(2 s^2)) on the integers, s > 0 the scale.
//           Its variance is slightly below s^2.
// Accuracy  The smallest integer a with P(|X| >= a) <= alpha, so |X| <= a - 1 with probability at least
//           1 - alpha.
// Source    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", arXiv
//           2004.00010 (the law); Shoemate, "discrete_gaussian_scale_to_accuracy", OpenDP, 2025,
//           theorem 0.2 (the accuracy).
// Proof     mechanisms/proofs/discrete_accuracy.md.
// Rounds    Accuracies and tails up, scales down; decided by enclosures that are refined until they
//           cannot err. Only an alpha that agrees with a tail probability to more than a thousand digits
//           stays undecided; then the accuracy is the next integer and the scale the next smaller number.
// Cost      Less than a tenth of a millisecond an accuracy, about one a scale; no sum has a number of
//           terms that grows with the scale.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

/// The smallest integer a with P(|X| >= a) <= alpha; at least 1.
/// Requires  scale > 0, 0 < alpha < 1.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Integer discrete_gaussian_accuracy(const Rational& scale, const Rational& alpha);

/// The largest scale with P(|X| >= ceil(accuracy)) <= alpha: a dyadic number of 128 bits with the
/// property, less than 2^-100 of it below the largest real one. For integers |X| >= accuracy means
/// |X| >= ceil(accuracy).
/// Requires  accuracy > 0, 0 < alpha < 1.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational discrete_gaussian_scale_down(const Rational& accuracy, const Rational& alpha);

/// P(|X| >= a), rounded up to a dyadic number of 128 bits, by less than 2^-100 of it; 2^-16384 where the
/// probability is smaller than that, and 1 for a <= 0.
/// Requires  scale > 0.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational discrete_gaussian_tail_up(const Rational& scale, const Integer& a);

}  // namespace epsilog::mechanisms
