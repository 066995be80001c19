// One mechanism of a schedule fixed in advance, as the composition calculators take it.
#pragma once

#include <cstdint>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// `count` independent uses of one mechanism on the same data.
struct ComposedLaw {
  enum class Kind { laplace, gaussian, discrete_laplace, discrete_gaussian, pure, approximate };
  Kind kind = Kind::laplace;
  /// Of the noise, > 0: b of Laplace noise, s of P(x) ~ e^(-|x|/s), sigma of the Gaussian laws. Not read by
  /// `pure` and `approximate`.
  Rational scale;
  /// Largest change of the answer by one unit, > 0, in the unit of the scale (of a vector: L2 for `gaussian`;
  /// the other noises are laws of scalars). An integer for the discrete laws, whose answers are integers.
  Rational sensitivity;
  /// Of `pure` (> 0) and `approximate` (>= 0): any mechanism with that guarantee.
  Rational epsilon;
  /// Of `approximate`, in [0, 1].
  Rational delta;
  /// >= 1.
  std::uint64_t count = 1;
};

}  // namespace epsilog::accounting
