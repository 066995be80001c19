// Was noise added at all? How likely noise on whole numbers or on a grid is to leave a figure unchanged,
// how many figures then settle the question, and how a level is shared among several checks.
//
// A figure that came out unchanged proves nothing: with epsilon 0.1 on a count it happens once in twenty.
// Only if all of n figures come out unchanged, with p^n <= 10^-k, may a test with flakiness 10^-k fail.
// Proof      mechanisms/proofs/tolerance.md.
// Rounds     Probabilities of no change up, numbers of figures up: against a false alarm.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

/// P(round(X) = 0) for Laplace noise of scale b, normal noise of standard deviation sigma, rounded to the
/// nearest integer: 1 - e^(-1/(2b)), erf(1/(2 sqrt 2 sigma)).
/// Requires  scale > 0; sigma > 0.   Throws  InvalidParameter.
[[nodiscard]] Rational rounded_laplace_unchanged_up(const Rational& scale);
[[nodiscard]] Rational rounded_gaussian_unchanged_up(const Rational& sigma);

/// P(X = 0) where P(X = x) is proportional to e^(-|x|/s), to e^(-x^2/(2 s^2)), x an integer:
/// tanh(1/(2s)), 1/sum e^(-x^2/(2 s^2)). The second exceeds the truth by less than 10^-33 of it.
/// Noise on a grid of step g and scale s g comes to the same, for an answer on the grid.
/// Requires  scale > 0.   Throws  InvalidParameter.
/// Source    Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020,
///           definition 1 (the law), section 2.
[[nodiscard]] Rational discrete_laplace_unchanged_up(const Rational& scale);
[[nodiscard]] Rational discrete_gaussian_unchanged_up(const Rational& scale);

/// What a snapping release would be without noise: the answer clamped, snapped and clamped again.
[[nodiscard]] Rational snapped_without_noise(const SnappingMechanism::Parameters& parameters,
                                             const Rational& answer);
/// P(a release is snapped_without_noise(answer)), for every answer at most
/// 1 - e^(-Lambda/(2 lambda)) (1 - (18 B/lambda + 10) 2^-p)/2; without the 2^-p in the exact arithmetic.
[[nodiscard]] Rational snapping_unchanged_up(const SnappingMechanism::Parameters& parameters);

/// n with unchanged^n <= 10^-k: the least one, or the next where n - 1 gives equality.
/// Requires  0 <= unchanged < 1; 0 < k <= kFlakinessMax of tolerance.hpp.
/// Throws    InvalidParameter; for unchanged = 1 the noise is too small to be seen.
[[nodiscard]] Integer values_to_show_noise(const Rational& unchanged, const Rational& k);

/// k + log10(checks), rounded up: `checks` checks of flakiness 10^-that each, dependent or not, fail
/// together with probability at most 10^-k (union bound).
/// Requires  k > 0; checks >= 1; the result at most kFlakinessMax.   Throws  InvalidParameter.
[[nodiscard]] Rational flakiness_of_each_up(const Rational& k, std::uint64_t checks);

/// 10^-k, exactly if k is an integer, else rounded down to 128 bits.
/// Requires  0 < k <= kFlakinessMax.   Throws  InvalidParameter.
[[nodiscard]] Rational flakiness_probability_down(const Rational& k);

}  // namespace epsilog::mechanisms
