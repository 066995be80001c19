// Lower bounds of mixtures: equal laws are composed on a grid of their own, on which all their losses are,
// and what comes out is brought down to one fine grid. A loss is so lowered by less than a step for each kind
// of law, not for each use.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, section 6a.
// Thread-safety: pure functions. The caller holds an ExponentRange.
#pragma once

#include "schedule.hpp"

namespace epsilog::accounting {

/// Laws on the multiples of `step`, each to be used once, whose composition has a profile nowhere above that
/// of the schedule. Close for losses near those that the tilt makes likely; laws for which nothing can be
/// said are left out. `log_delta` is what a tail may be without being missed.
/// Requires  tilt > 0; step > 0.
[[nodiscard]] std::vector<GridLaw> composed_below(const Schedule& schedule, const Rational& step, double tilt,
                                                  double log_delta);

}  // namespace epsilog::accounting
