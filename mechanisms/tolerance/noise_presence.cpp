#include "epsilog/mechanisms/noise_presence.hpp"

#include <algorithm>
#include <string>

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "epsilog/mechanisms/tolerance.hpp"
#include "noise_quantile.hpp"

namespace epsilog::mechanisms {
namespace {

constexpr unsigned kWorkingBits = 256;
constexpr unsigned kResultBits = 128;

void require_positive(const Rational& value, const char* field) {
  if (value <= 0)
    throw InvalidParameter(std::string(field) + ": " + accounting::text(value) + " is not above 0");
}

void require_flakiness(const Rational& k) {
  require_positive(k, "flakiness");
  if (k > kFlakinessMax)
    throw InvalidParameter("flakiness: 10^-k with k above " + std::to_string(kFlakinessMax));
}

Rational rounded_up(const MpfrNumber& value) {
  MpfrNumber result(kResultBits);
  mpfr_set(result.get(), value.get(), MPFR_RNDU);
  return result.rational();
}

/// e^(-x^2/(2 s^2)), down, and 0 where that is below every number MPFR has.
MpfrNumber bell_down(unsigned long x, const Rational& s) {
  MpfrNumber result = MpfrNumber::rounded(-Rational(Integer(x) * x) / (2 * s * s), kWorkingBits, MPFR_RNDD);
  mpfr_exp(result.get(), result.get(), MPFR_RNDD);
  return result;
}

/// Lower bound of the sum of e^(-x^2/(2 s^2)) over the integers; every term left out is positive.
MpfrNumber gaussian_total_down(const Rational& s) {
  MpfrNumber total(kWorkingBits);
  if (s < 1) {
    constexpr unsigned long kTerms = 16;
    for (unsigned long x = kTerms; x >= 1; --x)
      mpfr_add(total.get(), total.get(), bell_down(x, s).get(), MPFR_RNDD);
    mpfr_mul_2ui(total.get(), total.get(), 1, MPFR_RNDD);
    mpfr_add_ui(total.get(), total.get(), 1, MPFR_RNDD);
    return total;
  }
  // Poisson summation: s sqrt(2 pi) (1 + 2 e^(-2 pi^2 s^2) + …).
  MpfrNumber wave(kWorkingBits);
  mpfr_const_pi(wave.get(), MPFR_RNDU);
  mpfr_mul_q(wave.get(), wave.get(), s.get_mpq_t(), MPFR_RNDU);
  mpfr_sqr(wave.get(), wave.get(), MPFR_RNDU);
  mpfr_mul_2ui(wave.get(), wave.get(), 1, MPFR_RNDU);
  mpfr_neg(wave.get(), wave.get(), MPFR_RNDN);
  mpfr_exp(wave.get(), wave.get(), MPFR_RNDD);
  mpfr_mul_2ui(wave.get(), wave.get(), 1, MPFR_RNDD);
  mpfr_add_ui(wave.get(), wave.get(), 1, MPFR_RNDD);
  mpfr_const_pi(total.get(), MPFR_RNDD);
  mpfr_mul_2ui(total.get(), total.get(), 1, MPFR_RNDD);
  mpfr_sqrt(total.get(), total.get(), MPFR_RNDD);
  mpfr_mul_q(total.get(), total.get(), s.get_mpq_t(), MPFR_RNDD);
  mpfr_mul(total.get(), total.get(), wave.get(), MPFR_RNDD);
  return total;
}

}  // namespace

Rational rounded_laplace_unchanged_up(const Rational& scale) {
  require_positive(scale, "scale");
  const ExponentRange range;
  MpfrNumber result = MpfrNumber::rounded(-1 / (2 * scale), kWorkingBits, MPFR_RNDD);
  mpfr_expm1(result.get(), result.get(), MPFR_RNDD);
  mpfr_neg(result.get(), result.get(), MPFR_RNDN);
  return rounded_up(result);
}

Rational rounded_gaussian_unchanged_up(const Rational& sigma) {
  require_positive(sigma, "sigma");
  const ExponentRange range;
  MpfrNumber result = MpfrNumber::rounded(1 / (8 * sigma * sigma), kWorkingBits, MPFR_RNDU);
  mpfr_sqrt(result.get(), result.get(), MPFR_RNDU);
  mpfr_erf(result.get(), result.get(), MPFR_RNDU);
  return rounded_up(result);
}

Rational discrete_laplace_unchanged_up(const Rational& scale) {
  require_positive(scale, "scale");
  const ExponentRange range;
  MpfrNumber result = MpfrNumber::rounded(1 / (2 * scale), kWorkingBits, MPFR_RNDU);
  mpfr_tanh(result.get(), result.get(), MPFR_RNDU);
  return rounded_up(result);
}

Rational discrete_gaussian_unchanged_up(const Rational& scale) {
  require_positive(scale, "scale");
  const ExponentRange range;
  MpfrNumber result = gaussian_total_down(scale);
  mpfr_ui_div(result.get(), 1, result.get(), MPFR_RNDU);
  return rounded_up(result);
}

Rational snapped_without_noise(const SnappingMechanism::Parameters& parameters, const Rational& answer) {
  const Rational& bound = parameters.bound;
  const Rational inner = std::clamp(Rational(answer - parameters.centre), Rational(-bound), bound);
  return parameters.centre + std::clamp(round_to_multiple(inner, parameters.grid), Rational(-bound), bound);
}

Rational snapping_unchanged_up(const SnappingMechanism::Parameters& parameters) {
  const ExponentRange range;
  Rational escape = exp_down(-parameters.grid / (2 * parameters.scale), kWorkingBits) / 2;
  if (parameters.arithmetic == Arithmetic::mpfr) {
    const Rational eta = accounting::power_of_two(-static_cast<long>(parameters.precision));
    escape *= 1 - (18 * parameters.bound / parameters.scale + 10) * eta;
  }
  return MpfrNumber::rounded(1 - escape, kResultBits, MPFR_RNDU).rational();
}

Integer values_to_show_noise(const Rational& unchanged, const Rational& k) {
  require_flakiness(k);
  if (unchanged < 0 || unchanged > 1) {
    throw InvalidParameter("unchanged: " + accounting::text(unchanged) + " is not a probability");
  }
  if (unchanged == 1) {
    throw InvalidParameter("unchanged: noise that leaves every figure as it was cannot be shown");
  }
  if (unchanged == 0) return 1;
  const ExponentRange range;
  MpfrNumber level = MpfrNumber::rounded(unchanged - 1, kWorkingBits, MPFR_RNDU);
  mpfr_log1p(level.get(), level.get(), MPFR_RNDU);
  mpfr_neg(level.get(), level.get(), MPFR_RNDN);
  MpfrNumber values = level_of_flakiness(k, kWorkingBits, MPFR_RNDU);
  mpfr_div(values.get(), values.get(), level.get(), MPFR_RNDU);
  return accounting::ceil(values.rational());
}

Rational flakiness_of_each_up(const Rational& k, std::uint64_t checks) {
  require_flakiness(k);
  if (checks == 0) throw InvalidParameter("checks: 0; a level is shared by at least one check");
  MpfrNumber extra(kResultBits);
  mpfr_set_uj(extra.get(), checks, MPFR_RNDU);
  mpfr_log10(extra.get(), extra.get(), MPFR_RNDU);
  Rational result = k + extra.rational();
  require_flakiness(result);
  return result;
}

Rational flakiness_probability_down(const Rational& k) {
  require_flakiness(k);
  if (k.get_den() == 1) return accounting::power_of_ten(-k.get_num().get_si());
  const ExponentRange range;
  MpfrNumber result = level_of_flakiness(k, kWorkingBits, MPFR_RNDU);
  mpfr_neg(result.get(), result.get(), MPFR_RNDN);
  mpfr_exp(result.get(), result.get(), MPFR_RNDD);
  return MpfrNumber::rounded(result.rational(), kResultBits, MPFR_RNDD).rational();
}

}  // namespace epsilog::mechanisms
