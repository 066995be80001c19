// One mechanism of a schedule fixed in advance, as the composition calculators take it.
#pragma once

#include <cstdint>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// `count` independent uses of one mechanism on the same data.
struct ComposedLaw {
  enum class Kind { laplace, gaussian, discrete_laplace, discrete_gaussian, snapping, pure, approximate };
  Kind kind = Kind::laplace;
  /// Of the noise, > 0: b of Laplace noise (lambda of `snapping`), s of P(x) ~ e^(-|x|/s), sigma of the
  /// Gaussian laws. Not read by `pure` and `approximate`.
  Rational scale;
  /// Largest change of the answer by one unit, > 0, in the unit of the scale. Of a vector with independent
  /// noise: L2 for `gaussian`, L1 for all others. An integer for the discrete laws, whose answers are
  /// integers.
  Rational sensitivity;
  /// Of `pure` (> 0) and `approximate` (>= 0): any mechanism with that guarantee.
  Rational epsilon;
  /// Of `approximate`, in [0, 1]. Of `gaussian`: as `extra`.
  Rational delta;
  /// >= 1.
  std::uint64_t count = 1;
  /// Of `snapping`, >= 0: its proved loss beyond sensitivity/scale, that of its rounding; 0 for exact
  /// arithmetic. Of `gaussian`, >= 0, read by pld only: by how much more the noise may lose outside of an
  /// event of probability `delta`, as discrete noise on a fine grid does (fine_grid_gaussian).
  Rational extra = {};
};

/// Discrete Gaussian noise P(x) ~ e^(-x^2/(2 scale^2)) on the integers, added to each coordinate, of which at
/// most `coordinates` change by integers, as continuous Gaussian noise with what it may lose more.
/// Requires  scale > 0; sensitivity >= 0, at least the L2 change; coordinates >= 1.
/// Proof     accounting/proofs/privacy_loss_distribution.md, section 9.
[[nodiscard]] ComposedLaw fine_grid_gaussian(const Rational& scale, const Rational& sensitivity,
                                             std::uint64_t coordinates);

}  // namespace epsilog::accounting
