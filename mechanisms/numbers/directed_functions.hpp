// Elementary functions of rationals, enclosed: the direction of rounding is in the name.
// Each is monotone, so rounding the argument and the result the same way rounds the whole that way.
#pragma once

#include "epsilog/accounting/mpfr_number.hpp"

namespace epsilog::mechanisms {

using accounting::ExponentRange;
using accounting::kSignificandMax;
using accounting::kSignificandMin;
using accounting::MpfrNumber;
using accounting::MpfrView;
using accounting::Rational;

/// e^x.
[[nodiscard]] inline Rational exp_directed(const Rational& x, unsigned precision, mpfr_rnd_t direction) {
  MpfrNumber result = MpfrNumber::rounded(x, precision, direction);
  mpfr_exp(result.get(), result.get(), direction);
  return result.rational();
}
[[nodiscard]] inline Rational exp_up(const Rational& x, unsigned precision) {
  return exp_directed(x, precision, MPFR_RNDU);
}
[[nodiscard]] inline Rational exp_down(const Rational& x, unsigned precision) {
  return exp_directed(x, precision, MPFR_RNDD);
}

/// ln(1/x) for 0 < x.
[[nodiscard]] inline Rational log_of_inverse_directed(const Rational& x, unsigned precision,
                                                      mpfr_rnd_t direction) {
  MpfrNumber result = MpfrNumber::rounded(1 / x, precision, direction);
  mpfr_log(result.get(), result.get(), direction);
  return result.rational();
}
[[nodiscard]] inline Rational log_of_inverse_up(const Rational& x, unsigned precision) {
  return log_of_inverse_directed(x, precision, MPFR_RNDU);
}
[[nodiscard]] inline Rational log_of_inverse_down(const Rational& x, unsigned precision) {
  return log_of_inverse_directed(x, precision, MPFR_RNDD);
}

/// arcosh(x) for x >= 1.
[[nodiscard]] inline Rational arcosh_down(const Rational& x, unsigned precision) {
  MpfrNumber result = MpfrNumber::rounded(x, precision, MPFR_RNDD);
  mpfr_acosh(result.get(), result.get(), MPFR_RNDD);
  return result.rational();
}

}  // namespace epsilog::mechanisms
