// From what is asked for to the grid, the inflated sensitivity and the scale of a discrete mechanism.
#pragma once

#include "epsilog/mechanisms/discrete_parameters.hpp"

namespace epsilog::mechanisms {

/// Throws  InvalidParameter; see DiscreteMechanism.
[[nodiscard]] DiscreteParameters calibrate(const DiscreteOptions& options);

/// Square of the L2 sensitivity after each coordinate was rounded to the grid, up: (g ceil(D2/g))^2 for
/// m = 1, else (D2 + g sqrt m)^2.
[[nodiscard]] Rational inflated_l2_squared(const Rational& l2_squared, std::uint64_t coordinates,
                                           const Rational& grid);

/// index = floor(value / 2^exponent + 1/2): which multiple of 2^exponent is nearest, ties up.
void set_nearest_multiple_index(mpz_ptr index, const Rational& value, long exponent);
[[nodiscard]] inline Integer nearest_multiple_index(const Rational& value, long exponent) {
  Integer index;
  set_nearest_multiple_index(index.get_mpz_t(), value, exponent);
  return index;
}

}  // namespace epsilog::mechanisms
