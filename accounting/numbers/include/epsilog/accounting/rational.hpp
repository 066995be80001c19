// Exact rational numbers: sensitivities, bounds, true answers and adjusted losses.
//
// A Rational is a GMP rational in canonical form (lowest terms, positive denominator).
// Thread-safety: values; distinct objects may be used concurrently.
#pragma once

#include <gmpxx.h>

#include <string>
#include <string_view>

namespace epsilog::accounting {

using Rational = mpq_class;
using Integer = mpz_class;

/// Reads `-?digits[.digits][e[+-]digits]` or `-?digits/digits`, exactly.
///
/// Requires  at most 400 characters and an exponent within +-400.
/// Ensures   the value denoted, in canonical form; "-0" and "-0.0" are refused, so that one number
///           has one sign.
/// Throws    InvalidParameter naming `what` and the text (NaN, inf, hex floats, "1_000", ".5",
///           a zero denominator, an empty string, leading or trailing blanks).
[[nodiscard]] Rational parse_rational(std::string_view text, std::string_view what);

/// Canonical text: a decimal without exponent and trailing zeros when the value has a finite
/// decimal expansion ("0.25", "-3"), else "p/q" in lowest terms.
[[nodiscard]] std::string text(const Rational& value);

/// At least `digits` significant decimal digits, never below / never above the value, without
/// exponent. The exact text when it is no longer than that.
/// Requires  digits >= 1.
[[nodiscard]] std::string text_up(const Rational& value, unsigned digits);
[[nodiscard]] std::string text_down(const Rational& value, unsigned digits);

/// Hexadecimal floating-point text ("0x1.8p+1") if the value is a finite binary64, else "".
/// Zero is "0x0p+0".
[[nodiscard]] std::string hexfloat_text(const Rational& value);

[[nodiscard]] Integer floor(const Rational& value);
[[nodiscard]] Integer ceil(const Rational& value);

/// 2^exponent, for any exponent of either sign.
[[nodiscard]] Rational power_of_two(long exponent);
/// 10^exponent, for any exponent of either sign.
[[nodiscard]] Rational power_of_ten(long exponent);

}  // namespace epsilog::accounting
