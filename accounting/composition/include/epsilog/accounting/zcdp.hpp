// Zero-concentrated differential privacy: what rho means as (epsilon, delta).
//
// Measure   zCDP, rho in nats; rho adds under composition, adaptively too.
// Proof     mechanisms/proofs/gaussian_calibration.md, section 4; accounting/proofs/composition.md, section
//           7.
// Rounds    Deltas and epsilons up, rho down; of 128 bits.
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

/// An epsilon >= 0 with which every rho-zCDP mechanism is (epsilon, delta)-DP: the infimum over orders alpha
/// > 1 of alpha rho + ln(1/(alpha delta))/(alpha - 1) + ln(1 - 1/alpha), or 0 if that is larger; of 128 bits,
/// certified to be an upper bound. 0 for rho = 0.
/// Requires  rho >= 0, 0 < delta < 1.
/// Throws    InvalidParameter naming the argument.
/// Source    Canonne, Kamath and Steinke, arXiv 2004.00010, corollary 13; also Asoodeh, Liao, Calmon,
///           Kosut and Sankar, arXiv 2001.05990.
[[nodiscard]] Rational zcdp_epsilon_up(const Rational& rho, const Rational& delta);

/// rho of an epsilon-DP mechanism, epsilon^2/2, exact. Holds for adaptively chosen parameters, as rho adds
/// then.
/// Requires  epsilon >= 0.
/// Throws    InvalidParameter.
/// Source    Bun and Steinke, "Concentrated differential privacy", arXiv 1605.02065, proposition 1.4.
[[nodiscard]] Rational zcdp_rho_of_pure(const Rational& epsilon);

/// rho of Gaussian noise, sensitivity^2/(2 sigma^2), exact; also of discrete Gaussian noise of scale sigma on
/// the integers, for an integer sensitivity.
/// Requires  sigma > 0, sensitivity >= 0.
/// Throws    InvalidParameter.
/// Source    Bun and Steinke, arXiv 1605.02065, proposition 1.6; Canonne, Kamath and Steinke, theorem 4.
[[nodiscard]] Rational zcdp_rho_of_gaussian(const Rational& sigma, const Rational& sensitivity);

}  // namespace epsilog::accounting
