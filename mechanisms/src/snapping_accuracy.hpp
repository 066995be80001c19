// How far a snapped release can be from the answer: the exact, data-independent quantile.
//
// Source   The law of the ideal mechanism: clamp_B(round_Lambda(y + Laplace(lambda))), derived in
//          mechanisms/proofs/snapping.md, section "Accuracy".
// Rounds   The result up. Comparisons are decided by enclosures, refined until they cannot err.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

/// The public numbers that fix the ideal mechanism's law.
struct SnappingLaw {
  accounting::Rational lambda;  ///< noise scale, > 0
  accounting::Rational grid;    ///< Lambda, a power of two
  accounting::Rational bound;   ///< B > 0: answers and releases lie in [-B, B]
};

/// The smallest a with P(|M(y) - y| > a) <= alpha for every y in [-B, B], rounded up to at least
/// 80 significant bits; exact where it is rational in Lambda and B.
/// Requires  0 < alpha < 1.
[[nodiscard]] accounting::Rational smallest_error_up(const SnappingLaw& law,
                                                     const accounting::Rational& alpha);

/// The same as if B were infinite. Exact for every B >= 1.5 Lambda + lambda ln(1/alpha).
[[nodiscard]] accounting::Rational smallest_error_unclamped_up(const SnappingLaw& law,
                                                               const accounting::Rational& alpha);

/// The same by search over the breakpoints of the clamped law, valid for every B; its cost grows
/// with B / Lambda.
[[nodiscard]] accounting::Rational smallest_error_clamped_up(const SnappingLaw& law,
                                                             const accounting::Rational& alpha);

}  // namespace epsilog::mechanisms
