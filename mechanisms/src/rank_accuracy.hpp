// How far from the quantile a selected candidate is, at worst, with what probability.
// Proof    mechanisms/proofs/quantiles.md, section 6.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/mechanisms/quantile_parameters.hpp"

namespace epsilog::mechanisms {

/// One selection among `candidates`, one of which is right: a candidate that is `distance` units of
/// error away has x = rate * distance. Errors are multiples of `step`.
struct RankError {
  Selection selection = Selection::permute_and_flip;
  std::uint64_t candidates = 1;  ///< >= 1
  Rational rate;                 ///< > 0
  Rational step;                 ///< > 0
};

/// The least multiple a of the step with P(error > a) <= alpha, whatever the errors of the candidates are;
/// one step more at most where the boundary is within 2^-90 of itself. Requires  2^-1024 <= alpha < 1.
[[nodiscard]] Rational rank_error_up(const RankError& error, const Rational& alpha);

}  // namespace epsilog::mechanisms
