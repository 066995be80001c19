// The numeric core of the snapping mechanism: rounding to a grid, the grid, the logarithm.
//
// Source   Mironov, "On Significance of the Least Significant Bits for Differential Privacy", CCS
//          2012, section 5.2: round to the closest multiple of Lambda, ties toward +infinity; Lambda
//          the smallest power of two at least lambda; LN a correctly rounded natural logarithm.
// Exact    Rounding to a multiple and the power of two never round in between and never inspect bit
//          patterns, so zero, subnormal and huge values need no special rule.
// Units    Any: x, grid and lambda share the unit of the answer.
// Thread-safety: pure functions.
#pragma once

#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::ExponentRange;
using accounting::kSignificandMax;
using accounting::kSignificandMin;
using accounting::MpfrNumber;
using accounting::MpfrView;
using accounting::Rational;

/// The multiple of `grid` closest to x; halfway cases go toward +infinity (-1/2 becomes 0, 1/2
/// becomes 1). Zero comes out as +0 whatever the sign of x.
///
/// Requires  x finite; grid finite, positive and a power of two (2^-1074 is one).
/// Ensures   the exact multiple. The MPFR forms return it at the precision of x, which always holds it.
/// Throws    InvalidParameter for NaN, an infinity, a grid that is no power of two, and in the double
///           form a multiple of magnitude 2^1024.
[[nodiscard]] double round_to_multiple(double x, double grid);
[[nodiscard]] Rational round_to_multiple(const Rational& x, const Rational& grid);
[[nodiscard]] MpfrNumber round_to_multiple(MpfrView x, MpfrView grid);
[[nodiscard]] MpfrNumber round_to_multiple(MpfrView x, double grid);

/// The smallest power of two, of any sign of exponent, that is at least lambda.
///
/// Requires  lambda finite and positive.
/// Ensures   exact. The MPFR form returns it at the precision of lambda.
/// Throws    InvalidParameter for NaN, an infinity, zero, a negative value, and in the double form
///           lambda above 2^1023.
[[nodiscard]] double power_of_two_at_least(double lambda);
[[nodiscard]] Rational power_of_two_at_least(const Rational& lambda);
[[nodiscard]] MpfrNumber power_of_two_at_least(MpfrView lambda);

/// ln(u), correctly rounded to the nearest number of p significant bits, ties to even. Never -0.
///
/// Requires  u finite and positive; kSignificandMin <= p <= kSignificandMax.
/// Throws    InvalidParameter.
[[nodiscard]] MpfrNumber log_rounded(double u, unsigned p);
[[nodiscard]] MpfrNumber log_rounded(MpfrView u, unsigned p);

/// k if value is exactly 2^k.
/// Throws  InvalidParameter naming `what` if it is not a power of two.
[[nodiscard]] long exponent_of_power_of_two(const Rational& value, const char* what);

}  // namespace epsilog::mechanisms
