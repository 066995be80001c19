// Sums of exp(-x^2/(2 s^2)) over integers, enclosed, at a cost that does not grow with s.
//
// Source   Poisson summation, Euler-Maclaurin summation with a proved remainder, and direct sums:
//          mechanisms/proofs/discrete_accuracy.md, sections 2 to 4.
// Width    `bits` is the precision of the arithmetic; the enclosure returned may be somewhat wider,
//          and callers look at its width, never assume it.
// Thread-safety: pure functions. The caller holds an ExponentRange.
#pragma once

#include "epsilog/accounting/enclosure.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Enclosure;
using accounting::ExponentRange;
using accounting::Integer;
using accounting::kSignificandMax;
using accounting::kSignificandMin;
using accounting::log2_estimate;
using accounting::MpfrNumber;
using accounting::MpfrView;
using accounting::pi;
using accounting::Rational;

/// Mills' ratio of the normal law, integral_x^inf exp((x^2 - v^2)/2) dv, at x = sqrt(x_squared).
/// Requires  x_squared >= 0.
[[nodiscard]] Enclosure mills_ratio(const Rational& x_squared, unsigned bits);

/// P(Z > x), Z standard normal, at x = sign * sqrt(x_squared).
/// Requires  x_squared >= 0, sign 1 or -1.
[[nodiscard]] Enclosure normal_upper_tail(const Rational& x_squared, int sign, unsigned bits);

/// sum over all integers x of exp(-x^2/(2 s^2)).
/// Requires  s > 0.
[[nodiscard]] Enclosure gaussian_total(const Rational& s, unsigned bits);

/// sum_{x >= a} exp(-(x^2 - a^2)/(2 s^2)): the tail relative to its first term.
/// Requires  s > 0, a >= 1.
[[nodiscard]] Enclosure gaussian_tail_ratio(const Rational& s, const Integer& a, unsigned bits);

/// The two ways in which gaussian_tail_ratio is computed, for tests of one against the other.
/// Requires  s > 0, a >= 1; the first is slow beyond s = 10^5, the second wide below s = 10.
[[nodiscard]] Enclosure gaussian_tail_ratio_direct(const Rational& s, const Integer& a, unsigned bits);
/// Requires  1 <= terms <= kEulerMaclaurinTermsMax.
[[nodiscard]] Enclosure gaussian_tail_ratio_euler_maclaurin(const Rational& s, const Integer& a,
                                                            unsigned terms, unsigned bits);

}  // namespace epsilog::mechanisms
