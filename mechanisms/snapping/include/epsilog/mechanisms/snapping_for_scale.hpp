// What a wanted noise scale costs: the loss of a snapping mechanism whose lambda is stated.
//
// Source   mechanisms/proofs/snapping.md: the bound holds for every lambda of p bits, however it was chosen.
// Rounds   lambda up to p bits; the loss exact, as epsilon up on its grid of 10^-12; accuracy up.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>

#include "epsilog/mechanisms/snapping_parameters.hpp"

namespace epsilog::mechanisms {

struct SnappingScale {
  Rational scale;                 ///< > 0
  Rational sensitivity;           ///< largest L1 change of the answer by one unit, > 0
  std::uint64_t coordinates = 1;  ///< m: how many coordinates one unit can change, >= 1
  Rational bound;                 ///< B > 0: releases lie in [-B, B]
  Arithmetic arithmetic = Arithmetic::mpfr;
  Precision precision = {};  ///< as SnappingOptions
};

/// The numbers of a mechanism of that scale. mpfr: lambda is rounded up to p bits; auto is the least p >= 118
/// at which rounding costs at most 2^-40 of D/lambda and B <= 2^(p-7) lambda.
///
/// Ensures   grid: the least power of two >= the scale as stated; adjusted: the proved loss of the lambda
///           that is returned, exact; charged: the least epsilon on the grid that is not below it. A
///           mechanism calibrated to that epsilon has a scale a hair below this one.
/// Throws    InvalidParameter for a number out of its domain, a B beyond 2^(p-7) lambda, and a loss above the
///           largest Epsilon.
[[nodiscard]] SnappingParameters snapping_of_scale(const SnappingScale& scale);

/// As SnappingMechanism::accuracy_up of a mechanism with these parameters.
[[nodiscard]] Rational snapping_accuracy_up(const SnappingParameters& parameters, const Rational& alpha);

}  // namespace epsilog::mechanisms
