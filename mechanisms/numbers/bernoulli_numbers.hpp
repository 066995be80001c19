// The coefficients of the Euler-Maclaurin formula, exact.
#pragma once

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

/// Largest index of euler_maclaurin_coefficient.
inline constexpr unsigned kEulerMaclaurinTermsMax = 256;

/// B_2j / (2j)!, with B_2j the Bernoulli numbers 1/6, -1/30, 1/42, ...
/// Requires  1 <= j <= kEulerMaclaurinTermsMax.
/// Source    Brent and Harvey, "Fast computation of Bernoulli, tangent and secant numbers", arXiv
///           1108.0286, algorithm TangentNumbers and (14): B_2j = (-1)^(j-1) 2j T_j / (4^j (4^j - 1)).
/// Thread-safety: the table is made once, by whoever asks first.
[[nodiscard]] const accounting::Rational& euler_maclaurin_coefficient(unsigned j);

}  // namespace epsilog::mechanisms
