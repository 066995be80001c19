// What Gaussian noise costs and what a wanted cost needs: continuous, discrete and as zCDP. Calculators;
// a release is a discrete Gaussian on a grid and is charged by the discrete formula.
//
// Measure   Approximate DP, (epsilon, delta); zCDP, rho.
// Proof     mechanisms/proofs/gaussian_calibration.md.
// Rounds    Deltas and scales up, rho down. Enclosures are refined until the result is within the stated
//           distance of the real number; no input makes a difference of near-equal numbers or an overflow
//           visible in the result.
// Dyadic    "Dyadic up" is a number of 128 bits at or above the real one, by less than 2^-100 of it; a delta
//           below 2^-16384 is reported as 2^-16384.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/zcdp.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;
using accounting::zcdp_delta_up;
using accounting::zcdp_rho_down;

/// The least delta with which Gaussian noise of standard deviation sigma is (epsilon, delta)-DP for an answer
/// of that L2 sensitivity, dyadic up. Not a bound for discrete Gaussian noise, which needs more.
/// Requires  sigma > 0, epsilon >= 0, sensitivity > 0.
/// Throws    InvalidParameter naming the argument.
/// Source    Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018,
///           arXiv 1805.06530, theorem 8.
[[nodiscard]] Rational gaussian_delta_up(const Rational& sigma, const Rational& epsilon,
                                         const Rational& sensitivity);

/// The least sigma for (epsilon, delta), dyadic up.
/// Ensures   gaussian_delta_up(result, epsilon, sensitivity) is at most delta, but for its own rounding up:
///           the real delta of the result is certified to be at most `delta`.
/// Requires  epsilon > 0, 0 < delta < 1, sensitivity > 0.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational gaussian_sigma_up(const Rational& epsilon, const Rational& delta,
                                         const Rational& sensitivity);

/// The least delta with which discrete Gaussian noise N_Z(0, scale^2) is (epsilon, delta)-DP for an integer
/// answer that changes by at most `distance`, dyadic up.
/// Requires  scale > 0, epsilon >= 0, distance >= 1.
/// Throws    InvalidParameter naming the argument.
/// Source    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", arXiv
///           2004.00010, theorem 7.
[[nodiscard]] Rational discrete_gaussian_delta_up(const Rational& scale, const Rational& epsilon,
                                                  const Integer& distance);

/// A scale at which discrete Gaussian noise is (epsilon, delta)-DP at that distance, certified, while at
/// 2^-100 of it less it is not: dyadic up. At small scales delta goes up and down as the scale grows (at
/// epsilon = 6 and distance 2 from 0.157 at scale 0.58 to 0.187 at 0.65): a larger scale may cost more, and
/// one that is rounded after this call must be put through discrete_gaussian_delta_up again.
/// Requires  epsilon > 0, 0 < delta < 1, distance >= 1.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational discrete_gaussian_scale_up(const Rational& epsilon, const Rational& delta,
                                                  const Integer& distance);

}  // namespace epsilog::mechanisms
