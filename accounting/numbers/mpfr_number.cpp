#include "epsilog/accounting/mpfr_number.hpp"

#include <sodium.h>

#include <cmath>
#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

/// MPFR keeps constants and scratch numbers per thread and frees them only when told, so a thread that
/// computed and ended would leave them behind.
struct ThreadCache {
  ThreadCache() = default;
  ThreadCache(const ThreadCache&) = delete;
  ThreadCache& operator=(const ThreadCache&) = delete;
  ~ThreadCache() { mpfr_free_cache(); }
};

void free_cache_with_thread() {
  thread_local const ThreadCache cache;
  static_cast<void>(cache);
}

mpfr_prec_t checked_precision(std::size_t bits) {
  if (bits < kSignificandMin || bits > kSignificandMax) {
    throw InvalidParameter("precision: " + std::to_string(bits) + " bits; a significand has " +
                           std::to_string(kSignificandMin) + " to " + std::to_string(kSignificandMax));
  }
  return static_cast<mpfr_prec_t>(bits);
}

}  // namespace

MpfrNumber::MpfrNumber(unsigned precision) {
  free_cache_with_thread();
  mpfr_init2(value_, checked_precision(precision));
  mpfr_set_zero(value_, +1);
}

MpfrNumber::MpfrNumber(mpfr_srcptr value) {
  free_cache_with_thread();
  mpfr_init2(value_, mpfr_get_prec(value));
  mpfr_set(value_, value, MPFR_RNDN);
}

MpfrNumber::MpfrNumber(const MpfrNumber& other) : MpfrNumber(other.get()) {}

MpfrNumber::MpfrNumber(MpfrNumber&& other) noexcept {
  mpfr_init2(value_, MPFR_PREC_MIN);
  mpfr_set_zero(value_, +1);
  mpfr_swap(value_, other.value_);
}

MpfrNumber& MpfrNumber::operator=(const MpfrNumber& other) {
  if (this != &other) {
    mpfr_set_prec(value_, mpfr_get_prec(other.value_));
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  return *this;
}

MpfrNumber& MpfrNumber::operator=(MpfrNumber&& other) noexcept {
  mpfr_swap(value_, other.value_);
  return *this;
}

MpfrNumber::~MpfrNumber() {
  sodium_memzero(mpfr_custom_get_significand(value_), mpfr_custom_get_size(mpfr_get_prec(value_)));
  mpfr_clear(value_);
}

MpfrNumber MpfrNumber::rounded(const Rational& value, unsigned precision, mpfr_rnd_t direction) {
  const ExponentRange range;
  MpfrNumber result(precision);
  mpfr_set_q(result.value_, value.get_mpq_t(), direction);
  return result;
}

MpfrNumber MpfrNumber::exactly(const Rational& dyadic) {
  if (mpz_popcount(dyadic.get_den_mpz_t()) != 1) {
    throw InvalidParameter("not an integer over a power of two: " + text(dyadic));
  }
  const ExponentRange range;
  MpfrNumber result(static_cast<unsigned>(checked_precision(mpz_sizeinbase(dyadic.get_num_mpz_t(), 2))));
  const int ternary = mpfr_set_q(result.value_, dyadic.get_mpq_t(), MPFR_RNDN);
  EPSILOG_INVARIANT(ternary == 0);
  return result;
}

MpfrNumber MpfrNumber::exactly(double value) {
  if (!std::isfinite(value)) throw InvalidParameter("not a finite number");
  const ExponentRange range;
  MpfrNumber result(53U);
  mpfr_set_d(result.value_, value, MPFR_RNDN);
  return result;
}

Rational MpfrNumber::rational() const {
  if (mpfr_number_p(value_) == 0) throw InvalidParameter("not a finite number");
  Rational result;
  mpfr_get_q(result.get_mpq_t(), value_);
  return result;
}

double MpfrNumber::nearest_double() const noexcept {
  const ExponentRange range;
  return mpfr_get_d(value_, MPFR_RNDN);
}

ExponentRange::ExponentRange() noexcept : emin_(mpfr_get_emin()), emax_(mpfr_get_emax()) {
  mpfr_set_emin(MPFR_EMIN_DEFAULT);
  mpfr_set_emax(MPFR_EMAX_DEFAULT);
}

ExponentRange::~ExponentRange() {
  mpfr_set_emin(emin_);
  mpfr_set_emax(emax_);
}

}  // namespace epsilog::accounting
