// What a mechanism is, for an accountant: its noise, or its loss where nothing else is known.
//
// Thread-safety: values.
#pragma once

#include <cstdint>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// `count` releases of one mechanism.
struct ComposedLaw {
  enum class Kind { laplace, gaussian, discrete_laplace, discrete_gaussian, pure, approximate };
  Kind kind = Kind::pure;
  Rational scale;        ///< of noise, > 0: P(x) ~ e^(-|x|/scale), of the Gaussians e^(-x^2/(2 scale^2))
  Rational sensitivity;  ///< of noise, > 0, in the unit of scale; an integer for discrete noise
  Rational epsilon;      ///< of pure and approximate, nats, >= 0
  Rational delta;        ///< of approximate, 0..1
  std::uint64_t count = 1;
};

}  // namespace epsilog::accounting
