// What one release costs in zCDP and in Renyi divergence, from what is on record about it.
//
// Measure   zCDP, rho in nats; RDP, nats of divergence at one order.
// Proof     accounting/proofs/composition.md, sections 7, 8 and 10.
//           Gaussian rho, of vectors and of grids too: mechanisms/proofs/gaussian_calibration.md and
//           discrete_mechanisms.md. Bounded losses: mechanisms/proofs/quantiles.md, section 2.
// Rounds    Up.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// The privacy loss of one release. Only the field of its kind is read.
struct LossFacts {
  /// pure      epsilon-DP, whatever the mechanism
  /// gaussian  at every order alpha > 1 the Renyi divergence is at most alpha rho, in both directions:
  ///           Gaussian and discrete Gaussian noise, and whatever else is rho-zCDP
  /// bounded   both epsilon-DP and rho-zCDP, so at each order the smaller of what either says; selections
  ///           by the exponential mechanism, whose loss has a range of epsilon: rho = epsilon^2/8 of one
  enum class Kind { pure, gaussian, bounded };
  Kind kind = Kind::pure;
  Rational epsilon;  ///< nats, >= 0: the proved epsilon, or the charged one, which is not below it
  Rational rho;      ///< nats, >= 0: D^2/(2 s^2), D the L2 sensitivity, s the scale of the noise
};

/// epsilon^2/2 of a pure release, rho of any other: exact.
/// Throws  InvalidParameter naming the field that is negative.
/// Source  Bun and Steinke, "Concentrated differential privacy", arXiv 1605.02065, proposition 1.4.
[[nodiscard]] Rational rho_of_release_up(const LossFacts& loss);

/// renyi_of_pure_up of a pure release, order rho of a Gaussian one, the smaller of the two of a bounded one.
/// Ensures  0 of a release that loses nothing; at most order rho_of_release_up(loss), but for rounding.
/// Throws   InvalidParameter naming the field that is negative, or an order that is not above 1.
[[nodiscard]] Rational renyi_of_release_up(const LossFacts& loss, const Rational& order);

}  // namespace epsilog::accounting
