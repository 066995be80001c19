// What a wanted accuracy costs: the epsilon at which a snapping release is accurate enough.
//
// Source   The law of the mechanism; derivation and proof in mechanisms/proofs/snapping_accuracy.md.
// Rounds   Epsilon up, on its grid of 10^-12.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

namespace epsilog::mechanisms {

/// An error above `accuracy` shall have probability at most `alpha`, whatever the answer.
struct AccuracyGoal {
  Rational accuracy;                             ///< a > 0, in the unit of the answer
  Rational alpha;                                ///< 0 < alpha < 1
  Rational sensitivity;                          ///< largest L1 change of the answer by one unit, > 0
  std::uint64_t coordinates = 1;                 ///< m: how many coordinates one unit can change, >= 1
  std::optional<Rational> bound = std::nullopt;  ///< B > 0; without it, an epsilon that serves every B
  Arithmetic arithmetic = Arithmetic::exact;     ///< mpfr needs a bound
  Precision precision = {};                      ///< as SnappingMechanism::Options
};

/// The epsilon a SnappingMechanism over [-B, B] needs to reach the goal.
///
/// Ensures   A mechanism of that epsilon has accuracy_up(alpha) <= accuracy; it was asked.
///           Exact arithmetic: every larger epsilon meets the goal too, and the result is the least on the
///           grid of which that is true, but for the rounding of accuracy_up. Without a bound accuracy
///           never improves as epsilon falls, so no smaller one meets the goal at all. With a bound it can:
///           once B is below a few grid steps, ever smaller epsilons may meet a goal and miss it in turn,
///           as the grid jumps from one power of two to the next. Those windows are passed over.
///           mpfr arithmetic: the result is not below that of the exact one; the epsilon one grid unit
///           less is, or its mechanism misses the goal.
/// Centre    One off 0 changes nothing but the bound: it is that of the mechanism, which covers the
///           declared range from its centre.
/// Throws    InvalidParameter for a goal out of its domain, one that needs an epsilon above the largest
///           Epsilon, and one that a given precision cannot reach within B <= 2^(p-7) lambda.
[[nodiscard]] Epsilon snapping_epsilon_for_accuracy_up(const AccuracyGoal& goal);

}  // namespace epsilog::mechanisms
