// How far a snapped release can be from the answer: exact probabilities and quantiles.
//
// Source   The law of the ideal mechanism: clamp_B(round_Lambda(y + Laplace(lambda))), derived in
//          mechanisms/proofs/snapping_accuracy.md.
// Rounds   Quantiles up, to 128 bits where they are not rational in Lambda and B. Comparisons are decided
//          by enclosures, refined until they cannot err.
// Cost     No function enumerates outputs: B / Lambda may be as large as 2^40 and beyond.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/rational.hpp"
#include "error_probability.hpp"

namespace epsilog::mechanisms {

/// The public numbers that fix the ideal mechanism's law.
struct SnappingLaw {
  accounting::Rational scale;   ///< noise scale, > 0
  accounting::Rational grid;    ///< Lambda, a power of two
  accounting::Rational bound;   ///< B > 0: answers and releases lie in [-B, B]
};

/// sup over y in [-B, B] of P(|M(y) - y| > a), in closed form.
/// Requires  a >= 0.
[[nodiscard]] ErrorProbability worst_error(const SnappingLaw& law, const accounting::Rational& a);

/// P(|M(y) - y| > a).
/// Requires  |y| <= B, a >= 0.
[[nodiscard]] ErrorProbability error_at(const SnappingLaw& law, const accounting::Rational& y,
                                        const accounting::Rational& a);

/// The smallest a with P(|M(y) - y| > a) <= alpha for every y in [-B, B], rounded up.
/// Requires  0 < alpha < 1.
[[nodiscard]] accounting::Rational smallest_error_up(const SnappingLaw& law,
                                                     const accounting::Rational& alpha);

/// The same as if B were infinite.
[[nodiscard]] accounting::Rational smallest_error_unclamped_up(const SnappingLaw& law,
                                                               const accounting::Rational& alpha);

/// The smallest a with P(|M(y) - y| > a) <= alpha at this y: the distance of an output from y, exact.
/// Requires  |y| <= B, 0 < alpha < 1.
[[nodiscard]] accounting::Rational smallest_error_at(const SnappingLaw& law, const accounting::Rational& y,
                                                     const accounting::Rational& alpha);

}  // namespace epsilog::mechanisms
