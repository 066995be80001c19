// Zero-concentrated differential privacy: what rho means as (epsilon, delta).
//
// Measure   zCDP, rho in nats; rho adds under composition, adaptively too.
// Proof     mechanisms/proofs/gaussian_calibration.md, section 4.
// Rounds    Deltas up, rho down; of 128 bits.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// A delta with which every rho-zCDP mechanism is (epsilon, delta)-DP: the infimum over orders alpha > 1 of
/// exp((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1), or 1 if that is larger; of 128
/// bits, certified to be an upper bound. 0 for rho = 0.
/// Requires  rho >= 0, epsilon >= 0.
/// Throws    InvalidParameter naming the argument.
/// Source    Canonne, Kamath and Steinke, arXiv 2004.00010, proposition 12 and corollary 13.
[[nodiscard]] Rational zcdp_delta_up(const Rational& rho, const Rational& epsilon);

/// The largest rho with that delta at most `delta`, rounded down to 128 bits, certified.
/// Requires  epsilon > 0, 0 < delta < 1.
/// Throws    InvalidParameter naming the argument.
[[nodiscard]] Rational zcdp_rho_down(const Rational& epsilon, const Rational& delta);

}  // namespace epsilog::accounting
