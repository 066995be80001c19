// How far from the quantile a selected candidate is, at worst, with what probability.
// Proof    mechanisms/proofs/quantiles.md, section 6.
// Thread-safety: immutable.
#pragma once

#include "epsilog/mechanisms/quantile_parameters.hpp"

namespace epsilog::mechanisms {

/// Bounds the error of a selection among so many candidates, one of which is right, at one probability. What
/// costs most does not depend on the rate: one bound serves all selections of a release.
class RankErrorBound final {
 public:
  /// Requires  candidates >= 1; 2^-1024 <= alpha < 1.
  RankErrorBound(Selection selection, std::uint64_t candidates, const Rational& alpha);

  /// Returns the least multiple a of the step with P(error > a) <= alpha, whatever the errors of the
  /// candidates are; one step more at most where the boundary is within 2^-90 of itself. A candidate that is
  /// `distance` units of error away has x = rate * distance. Errors are multiples of `step`.
  /// Requires  rate > 0, step > 0.
  [[nodiscard]] Rational error_up(const Rational& rate, const Rational& step) const;

 private:
  /// The largest probability of a candidate, compared with the right one's, that keeps a wrong choice within
  /// alpha; rounded down. From 1 on: any, and there is no error.
  Rational odds_;
};

}  // namespace epsilog::mechanisms
