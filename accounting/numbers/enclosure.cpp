#include "epsilog/accounting/enclosure.hpp"

#include <cmath>
#include <utility>

#include "epsilog/accounting/stopping.hpp"

namespace epsilog::accounting {
namespace {

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

Enclosure increasing(Function function, const Enclosure& x) {
  MpfrNumber low(x.bits());
  MpfrNumber high(x.bits());
  function(low.get(), x.low().get(), MPFR_RNDD);
  function(high.get(), x.high().get(), MPFR_RNDU);
  return {std::move(low), std::move(high)};
}

bool not_negative(const MpfrNumber& value) {
  return mpfr_nan_p(value.get()) == 0 && mpfr_sgn(value.get()) >= 0;
}

bool positive(const MpfrNumber& value) {
  return mpfr_nan_p(value.get()) == 0 && mpfr_sgn(value.get()) > 0;
}

}  // namespace

Enclosure::Enclosure(unsigned long value, unsigned bits) : low_(bits), high_(bits) {
  mpfr_set_ui(low_.get(), value, MPFR_RNDD);
  mpfr_set_ui(high_.get(), value, MPFR_RNDU);
}

Enclosure::Enclosure(const Rational& value, unsigned bits)
    : low_(MpfrNumber::rounded(value, bits, MPFR_RNDD)), high_(MpfrNumber::rounded(value, bits, MPFR_RNDU)) {
  stop_if_requested();
}

Enclosure& Enclosure::operator+=(const Enclosure& other) {
  mpfr_add(low_.get(), low_.get(), other.low_.get(), MPFR_RNDD);
  mpfr_add(high_.get(), high_.get(), other.high_.get(), MPFR_RNDU);
  return *this;
}

Enclosure& Enclosure::operator-=(const Enclosure& other) {
  if (this == &other) return *this -= Enclosure(other);
  mpfr_sub(low_.get(), low_.get(), other.high_.get(), MPFR_RNDD);
  mpfr_sub(high_.get(), high_.get(), other.low_.get(), MPFR_RNDU);
  return *this;
}

Enclosure& Enclosure::operator*=(const Enclosure& other) {
  stop_if_requested();
  if (this == &other) return *this *= Enclosure(other);
  if (not_negative(other.low_)) {
    mpfr_mul(low_.get(), low_.get(), (not_negative(low_) ? other.low_ : other.high_).get(), MPFR_RNDD);
    mpfr_mul(high_.get(), high_.get(), (not_negative(high_) ? other.high_ : other.low_).get(), MPFR_RNDU);
    return *this;
  }
  if (mpfr_sgn(other.high_.get()) <= 0) {
    negate();
    return *this *= -other;
  }
  // `other` reaches to both sides of zero: each bound is the more extreme of two products.
  const Enclosure self = *this;
  mpfr_mul(low_.get(), self.low_.get(), other.high_.get(), MPFR_RNDD);
  mpfr_mul(high_.get(), self.low_.get(), other.low_.get(), MPFR_RNDU);
  MpfrNumber product(bits());
  mpfr_mul(product.get(), self.high_.get(), other.low_.get(), MPFR_RNDD);
  if (mpfr_nan_p(product.get()) != 0 || mpfr_less_p(product.get(), low_.get()) != 0) low_ = product;
  mpfr_mul(product.get(), self.high_.get(), other.high_.get(), MPFR_RNDU);
  if (mpfr_nan_p(product.get()) != 0 || mpfr_greater_p(product.get(), high_.get()) != 0) high_ = product;
  return *this;
}

Enclosure& Enclosure::operator/=(const Enclosure& other) {
  if (!positive(other.low_)) {
    mpfr_set_inf(low_.get(), -1);
    mpfr_set_inf(high_.get(), +1);
    return *this;
  }
  const Enclosure divisor = other;  // `other` may be *this
  mpfr_div(low_.get(), low_.get(), (not_negative(low_) ? divisor.high_ : divisor.low_).get(), MPFR_RNDD);
  mpfr_div(high_.get(), high_.get(), (not_negative(high_) ? divisor.low_ : divisor.high_).get(), MPFR_RNDU);
  return *this;
}

Enclosure& Enclosure::operator*=(unsigned long factor) {
  mpfr_mul_ui(low_.get(), low_.get(), factor, MPFR_RNDD);
  mpfr_mul_ui(high_.get(), high_.get(), factor, MPFR_RNDU);
  return *this;
}

Enclosure& Enclosure::operator/=(unsigned long divisor) {
  mpfr_div_ui(low_.get(), low_.get(), divisor, MPFR_RNDD);
  mpfr_div_ui(high_.get(), high_.get(), divisor, MPFR_RNDU);
  return *this;
}

Enclosure& Enclosure::negate() {
  mpfr_neg(low_.get(), low_.get(), MPFR_RNDN);
  mpfr_neg(high_.get(), high_.get(), MPFR_RNDN);
  std::swap(low_, high_);
  return *this;
}

Enclosure& Enclosure::invert(unsigned long numerator) {
  mpfr_ui_div(low_.get(), numerator, low_.get(), MPFR_RNDU);
  mpfr_ui_div(high_.get(), numerator, high_.get(), MPFR_RNDD);
  std::swap(low_, high_);
  return *this;
}

Enclosure& Enclosure::widen(const MpfrNumber& radius) {
  mpfr_sub(low_.get(), low_.get(), radius.get(), MPFR_RNDD);
  mpfr_add(high_.get(), high_.get(), radius.get(), MPFR_RNDU);
  return *this;
}

bool Enclosure::certainly_at_most(const Rational& value) const {
  return mpfr_nan_p(high_.get()) == 0 && mpfr_cmp_q(high_.get(), value.get_mpq_t()) <= 0;
}

bool Enclosure::certainly_above(const Rational& value) const {
  return mpfr_nan_p(low_.get()) == 0 && mpfr_cmp_q(low_.get(), value.get_mpq_t()) > 0;
}

bool Enclosure::narrow(unsigned bits) const {
  if (mpfr_number_p(low_.get()) == 0 || mpfr_number_p(high_.get()) == 0 || !positive(low_)) return false;
  MpfrNumber width(this->bits());
  mpfr_sub(width.get(), high_.get(), low_.get(), MPFR_RNDU);
  mpfr_mul_2ui(width.get(), width.get(), bits, MPFR_RNDU);
  return mpfr_lessequal_p(width.get(), low_.get()) != 0;
}

MpfrNumber Enclosure::middle() const {
  MpfrNumber middle(bits());
  mpfr_add(middle.get(), low_.get(), high_.get(), MPFR_RNDN);
  mpfr_div_2ui(middle.get(), middle.get(), 1, MPFR_RNDN);
  return middle;
}

Enclosure exp(const Enclosure& x) {
  return increasing(mpfr_exp, x);
}

Enclosure log(const Enclosure& x) {
  return increasing(mpfr_log, x);
}

Enclosure log1p(const Enclosure& x) {
  return increasing(mpfr_log1p, x);
}

Enclosure sqrt(const Enclosure& x) {
  return increasing(mpfr_sqrt, x);
}

Enclosure pi(unsigned bits) {
  MpfrNumber low(bits);
  MpfrNumber high(bits);
  mpfr_const_pi(low.get(), MPFR_RNDD);
  mpfr_const_pi(high.get(), MPFR_RNDU);
  return {std::move(low), std::move(high)};
}

double log2_estimate(const Rational& value) {
  long numerator_exponent = 0;
  long denominator_exponent = 0;
  const double numerator = mpz_get_d_2exp(&numerator_exponent, value.get_num_mpz_t());
  const double denominator = mpz_get_d_2exp(&denominator_exponent, value.get_den_mpz_t());
  return std::log2(numerator / denominator) + static_cast<double>(numerator_exponent - denominator_exponent);
}

}  // namespace epsilog::accounting
