// Many toy settings against a bound: each one's worst pair must stay below what is allowed.
#pragma once

#include "epsilog/mechanisms/snapping.hpp"
#include "mechanisms/toy_mechanism.hpp"
#include "snapping_calibration.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// What is charged beyond D/lambda for one coordinate.
inline Rational proved_extra(const ToySetting& s) {
  return mechanisms::proved_loss(0, 1, Rational(s.scale), Rational(s.bound), s.precision);
}

/// What the paper charges beyond D/lambda.
inline Rational published_extra(const ToySetting& s) {
  return mechanisms::published_loss(0, 1, Rational(s.scale), Rational(s.bound), s.precision);
}

/// Farther than any cut from any answer.
inline double reach(const ToySetting& s) {
  return 2 * s.bound + s.grid;
}

inline NoiseTable noise_of(const ToySetting& s) {
  return conforming_noise(NoiseArithmetic{s.scale, s.precision}, s.precision, reach(s));
}

/// How close settings came to a bound, and how many were tried.
struct Survey {
  int settings = 0;
  double closest = 0;  ///< largest measured / allowed

  void expect_below(const ToySetting& s, const Worst& worst, const Rational& allowed) {
    ++settings;
    CAPTURE(s.precision, s.scale, s.grid, s.bound, worst.output, worst.extra);
    REQUIRE(std::isfinite(worst.extra));
    if (worst.extra <= 0) return;
    const Rational measured = certified_extra(worst, s.scale).high;
    if (measured > allowed) FAIL_CHECK("loses " << worst.extra << " of " << allowed.get_d());
    closest = std::max(closest, Rational(measured / allowed).get_d());
  }
};

/// p-bit lambda in [1, 2) and bounds in (lambda, top * lambda), every `stride`-th p-bit number of each.
template <typename Visit>
void over_settings(unsigned p, int lambda_stride, int bound_stride, double top, Visit visit) {
  const int steps = 1 << (p - 1);
  for (int i = 0; i < steps; i += lambda_stride) {
    const double lambda = 1 + std::ldexp(i, 1 - static_cast<int>(p));
    const double grid = mechanisms::power_of_two_at_least(lambda);
    const NoiseTable noise = noise_of(ToySetting{p, lambda, grid, top * lambda});
    for (double bound = representable_above(lambda, p); bound < top * lambda;) {
      visit(ToySetting{p, lambda, grid, bound}, noise);
      for (int skip = 0; skip < bound_stride; ++skip) bound = representable_above(bound, p);
    }
  }
}

}  // namespace epsilog::test
