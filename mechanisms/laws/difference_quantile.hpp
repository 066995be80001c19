// How large the noise of one release less a multiple of that of another can be: a certified quantile.
//
// Law      |E1 - b E2|, E1 and E2 the errors of independent releases, at any two answers.
// Source   Laplace: two exponential laws in closed form. Gaussian: the sum is normal.
// Proof    mechanisms/proofs/quotients.md, "Two noises".
// Rounds   Up, always; less than 2^-10 of it is lost to the search.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/mechanisms/answer_noise.hpp"

namespace epsilog::mechanisms {

/// What E1 is compared with.
enum class Multiple {
  one,  ///< b E2, |b| = factor, on both sides
  /// On each side a multiple of E2 of its own, |b| <= factor; and where E2 is clamped at the end towards
  /// which it helps, too.
  any,
};

/// A q with P(|E1 - b E2| > q) <= alpha: does not fall as factor rises. Of `any`, with
/// P(E1 - b E2 > q) + P(E1 - b' E2 < -q) <= alpha for all b and b' of the kind.
/// Requires  both of one law; factor >= 0; 2^-16384 <= alpha < 1; guess >= 0 says where to look, 0 nothing.
[[nodiscard]] Rational difference_quantile_up(const AnswerNoise& first, const AnswerNoise& second,
                                              const Rational& factor, Multiple multiple,
                                              const Rational& alpha, const Rational& guess);

}  // namespace epsilog::mechanisms
