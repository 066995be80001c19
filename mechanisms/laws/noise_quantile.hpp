// Quantiles of standard noise at levels too small for 1 - p: a level y > 0 stands for the probability
// e^-y. Proof: mechanisms/proofs/tolerance.md, with the error of each function.
//
// Directions  MPFR_RNDU or MPFR_RNDD; the result is a bound of the exact value on that side, at the
//             precision of the argument.
// Requires    MPFR's exponent range is the default one.
#pragma once

#include <cstdint>

#include "epsilog/accounting/mpfr_number.hpp"

namespace epsilog::mechanisms {

using accounting::ExponentRange;
using accounting::kSignificandMax;
using accounting::kSignificandMin;
using accounting::MpfrNumber;
using accounting::MpfrView;
using accounting::Rational;

enum class NoiseLaw { laplace, gaussian };

/// k ln 10: the level of the probability 10^-k.
[[nodiscard]] MpfrNumber level_of_flakiness(const Rational& k, unsigned precision, mpfr_rnd_t direction);

/// The level of 1 - e^-y. Falls as y rises and undoes itself.
[[nodiscard]] MpfrNumber level_of_complement(const MpfrNumber& y, mpfr_rnd_t direction);

/// y/n, for n >= 1.
[[nodiscard]] MpfrNumber level_over(const MpfrNumber& y, std::uint64_t n, mpfr_rnd_t direction);

/// The level p of each of n independent events of which none happens with probability 1 - e^-y:
/// (1 - e^-p)^n = 1 - e^-y. For n = 1, y itself.
[[nodiscard]] MpfrNumber level_of_each(const MpfrNumber& y, std::uint64_t n, mpfr_rnd_t direction);

/// The x with P(|X| > x) = e^-y for X of scale 1 (Laplace) or standard deviation 1 (Gaussian).
[[nodiscard]] MpfrNumber two_sided_quantile(NoiseLaw law, const MpfrNumber& y, mpfr_rnd_t direction);

}  // namespace epsilog::mechanisms
