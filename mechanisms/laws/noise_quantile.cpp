#include "noise_quantile.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::mechanisms {
namespace {

mpfr_rnd_t opposite(mpfr_rnd_t direction) {
  return direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
}

MpfrNumber negated(const MpfrNumber& x) {
  MpfrNumber result(x.precision());
  mpfr_neg(result.get(), x.get(), MPFR_RNDN);
  return result;
}

/// Below ln 2 the probability e^-y is the larger one of the pair, and 1 - e^-y must not be formed from it.
bool is_common(const MpfrNumber& y) {
  return mpfr_cmp_d(y.get(), 0.693) < 0;
}

/// e^-y, for an exact y.
MpfrNumber probability(const MpfrNumber& y, mpfr_rnd_t direction) {
  MpfrNumber result(y.precision());
  mpfr_exp(result.get(), negated(y).get(), direction);
  return result;
}

/// 1 - e^-y, for an exact y.
MpfrNumber other_probability(const MpfrNumber& y, mpfr_rnd_t direction) {
  MpfrNumber result(y.precision());
  mpfr_expm1(result.get(), negated(y).get(), opposite(direction));
  return negated(result);
}

// ------------------------------------------------------------------------------ erfc(x) = e^-y

/// The equation for x in the form that loses no digits: by erfc while e^-y is the smaller probability of
/// the two, else by erf.
struct ErrorFunctionRoot {
  bool common;  ///< erf(x) = 1 - e^-y, else erfc(x) = e^-y
  MpfrNumber y;

  /// Certainly x >= root (up), certainly x <= root (down).
  [[nodiscard]] bool beyond(const MpfrNumber& x, mpfr_rnd_t side) const {
    MpfrNumber reached(x.precision());
    const bool up = side == MPFR_RNDU;
    if (common) {
      mpfr_erf(reached.get(), x.get(), opposite(side));
      const MpfrNumber wanted = other_probability(y, side);
      return up ? mpfr_greaterequal_p(reached.get(), wanted.get()) != 0
                : mpfr_lessequal_p(reached.get(), wanted.get()) != 0;
    }
    mpfr_erfc(reached.get(), x.get(), side);
    const MpfrNumber wanted = probability(y, opposite(side));
    return up ? mpfr_lessequal_p(reached.get(), wanted.get()) != 0
              : mpfr_greaterequal_p(reached.get(), wanted.get()) != 0;
  }

  /// Where Newton's method starts: sqrt(y) lies above the root, since erfc(x) <= e^-x^2, and
  /// sqrt(pi)/2 (1 - e^-y) below it, since erf(x) <= 2x/sqrt(pi).
  [[nodiscard]] MpfrNumber start() const {
    MpfrNumber x(y.precision());
    if (!common) {
      mpfr_sqrt(x.get(), y.get(), MPFR_RNDN);
      return x;
    }
    mpfr_const_pi(x.get(), MPFR_RNDN);
    mpfr_sqrt(x.get(), x.get(), MPFR_RNDN);
    mpfr_mul(x.get(), x.get(), other_probability(y, MPFR_RNDN).get(), MPFR_RNDN);
    mpfr_div_2ui(x.get(), x.get(), 1, MPFR_RNDN);
    return x;
  }

  /// The step of Newton's method, to be subtracted from x: for erf itself when common, for ln erfc else.
  /// -ln erfc is convex and erf concave on x >= 0, so the iterates stay on the side where they start.
  [[nodiscard]] MpfrNumber step(const MpfrNumber& x) const {
    const unsigned precision = x.precision();
    MpfrNumber slope(precision);  // 2/sqrt(pi) e^-x^2
    MpfrNumber reached(precision);
    MpfrNumber delta(precision);
    mpfr_const_pi(delta.get(), MPFR_RNDN);
    mpfr_rec_sqrt(delta.get(), delta.get(), MPFR_RNDN);
    mpfr_mul_2ui(delta.get(), delta.get(), 1, MPFR_RNDN);
    mpfr_sqr(slope.get(), x.get(), MPFR_RNDN);
    mpfr_neg(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_exp(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_mul(slope.get(), slope.get(), delta.get(), MPFR_RNDN);
    if (common) {
      mpfr_erf(reached.get(), x.get(), MPFR_RNDN);
      mpfr_sub(delta.get(), reached.get(), other_probability(y, MPFR_RNDN).get(), MPFR_RNDN);
    } else {
      mpfr_erfc(reached.get(), x.get(), MPFR_RNDN);
      mpfr_log(delta.get(), reached.get(), MPFR_RNDN);
      mpfr_add(delta.get(), delta.get(), y.get(), MPFR_RNDN);
      mpfr_mul(delta.get(), delta.get(), reached.get(), MPFR_RNDN);
      mpfr_neg(delta.get(), delta.get(), MPFR_RNDN);
    }
    mpfr_div(delta.get(), delta.get(), slope.get(), MPFR_RNDN);
    return delta;
  }
};

/// Quadratic convergence from starts this good takes below ten steps.
constexpr unsigned kNewtonSteps = 64;
/// Error functions cost much more at more bits, so most steps are taken at few.
constexpr unsigned kRoughBits = 64;

MpfrNumber at_precision(const MpfrNumber& x, unsigned bits) {
  MpfrNumber result(bits);
  mpfr_set(result.get(), x.get(), MPFR_RNDN);
  return result;
}

MpfrNumber approximate_root(const ErrorFunctionRoot& equation) {
  const unsigned precision = equation.y.precision();
  const ErrorFunctionRoot rough{equation.common, at_precision(equation.y, kRoughBits)};
  MpfrNumber x = rough.start();
  for (unsigned step = 0; step < kNewtonSteps; ++step) {
    const MpfrNumber delta = rough.step(x);
    mpfr_sub(x.get(), x.get(), delta.get(), MPFR_RNDN);
    if (mpfr_zero_p(delta.get()) != 0 || mpfr_get_exp(delta.get()) < mpfr_get_exp(x.get()) - 24) break;
  }
  for (unsigned bits = kRoughBits; bits < precision;) {
    bits = std::min(2 * bits, precision);
    x = at_precision(x, bits);
    const MpfrNumber delta = ErrorFunctionRoot{equation.common, at_precision(equation.y, bits)}.step(x);
    mpfr_sub(x.get(), x.get(), delta.get(), MPFR_RNDN);
  }
  return x;
}

/// x moved out to x (1 + 2^-bits) or in to x (1 - 2^-bits).
MpfrNumber moved(const MpfrNumber& x, unsigned bits, mpfr_rnd_t side) {
  MpfrNumber margin(x.precision());
  mpfr_div_2ui(margin.get(), x.get(), bits, side);
  if (side == MPFR_RNDD) margin = negated(margin);
  mpfr_add(margin.get(), x.get(), margin.get(), side);
  return margin;
}

/// Newton's result is only a guess; what is returned has been checked to lie on its side.
MpfrNumber normal_quantile(const MpfrNumber& y, mpfr_rnd_t direction) {
  // The condition of erfc at x is 2 x^2 <= 2^23 for y <= 10^6 ln 10.
  constexpr unsigned kGuard = 32;
  const ErrorFunctionRoot equation{is_common(y), at_precision(y, y.precision() + kGuard)};
  const MpfrNumber root = approximate_root(equation);
  for (unsigned bits = y.precision(); bits + 32 > y.precision(); bits -= 8) {
    const MpfrNumber candidate = moved(root, bits, direction);
    if (!equation.beyond(candidate, direction)) continue;
    MpfrNumber result(y.precision());
    mpfr_set_ui(result.get(), 2, MPFR_RNDN);
    mpfr_sqrt(result.get(), result.get(), direction);
    mpfr_mul(result.get(), result.get(), candidate.get(), direction);
    return result;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

MpfrNumber level_of_flakiness(const Rational& k, unsigned precision, mpfr_rnd_t direction) {
  MpfrNumber result(precision);
  mpfr_set_ui(result.get(), 10, MPFR_RNDN);
  mpfr_log(result.get(), result.get(), direction);
  mpfr_mul_q(result.get(), result.get(), k.get_mpq_t(), direction);
  return result;
}

MpfrNumber level_of_complement(const MpfrNumber& y, mpfr_rnd_t direction) {
  // Upward: the logarithm of 1 - e^-y from below, hence e^-y from above.
  MpfrNumber result = is_common(y) ? other_probability(y, opposite(direction)) : probability(y, direction);
  if (is_common(y)) {
    mpfr_log(result.get(), result.get(), opposite(direction));
  } else {
    mpfr_log1p(result.get(), negated(result).get(), opposite(direction));
  }
  return negated(result);
}

MpfrNumber level_over(const MpfrNumber& y, std::uint64_t n, mpfr_rnd_t direction) {
  MpfrNumber result(y.precision());
  mpfr_div_ui(result.get(), y.get(), n, direction);
  return result;
}

MpfrNumber level_of_each(const MpfrNumber& y, std::uint64_t n, mpfr_rnd_t direction) {
  if (n == 1) return y;
  const mpfr_rnd_t inner = opposite(direction);
  return level_of_complement(level_over(level_of_complement(y, inner), n, inner), direction);
}

MpfrNumber two_sided_quantile(NoiseLaw law, const MpfrNumber& y, mpfr_rnd_t direction) {
  return law == NoiseLaw::laplace ? y : normal_quantile(y, direction);
}

}  // namespace epsilog::mechanisms
