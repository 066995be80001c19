// Tails of the discrete Gaussian law, enclosed.
// Thread-safety: pure functions. The caller holds an ExponentRange.
#pragma once

#include "epsilog/accounting/enclosure.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Enclosure;
using accounting::ExponentRange;
using accounting::kSignificandMax;
using accounting::kSignificandMin;
using accounting::MpfrNumber;
using accounting::MpfrView;
using accounting::Rational;

/// P(X >= a) with X ~ N_Z(0, s^2), for any integer a. Of about `bits` bits unless the tail is close to 1.
/// Requires  s > 0.
[[nodiscard]] Enclosure discrete_gaussian_upper_tail(const Rational& s, const accounting::Integer& a,
                                                     unsigned bits);

/// exp(epsilon) P(X >= a).
/// Requires  s > 0, a >= 1.
[[nodiscard]] Enclosure discrete_gaussian_weighted_tail(const Rational& s, const accounting::Integer& a,
                                                        const Rational& epsilon, unsigned bits);

/// The x with P(|Z| > x) = alpha, Z standard normal, to double precision: where searches begin.
/// Requires  0 < alpha < 1.
[[nodiscard]] Rational two_sided_normal_quantile_estimate(const Rational& alpha);

}  // namespace epsilog::mechanisms
