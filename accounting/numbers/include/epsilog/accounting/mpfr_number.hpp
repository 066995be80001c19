// A binary floating-point number of stated precision: MPFR with an owner.
//
// Every operation that can round names its direction, and what is called exact never rounds.
// Exponents: results live in MPFR's default range |exponent| < 2^30 whatever the calling program
// set with mpfr_set_emin, so neither a noise nor a uniform can be flushed to zero (ExponentRange).
// Thread-safety: values; distinct objects may be used concurrently.
#pragma once

#include <mpfr.h>

#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// Smallest and largest significand, in bits, that this library computes with.
inline constexpr unsigned kSignificandMin = 1;
inline constexpr unsigned kSignificandMax = 1'000'000;

class MpfrNumber final {
 public:
  /// Zero with a significand of `precision` bits.
  /// Throws  InvalidParameter unless kSignificandMin <= precision <= kSignificandMax.
  explicit MpfrNumber(unsigned precision);
  /// The same value at the same precision.
  explicit MpfrNumber(mpfr_srcptr value);
  MpfrNumber(const MpfrNumber& other);
  MpfrNumber(MpfrNumber&& other) noexcept;
  MpfrNumber& operator=(const MpfrNumber& other);
  MpfrNumber& operator=(MpfrNumber&& other) noexcept;
  /// Overwrites the significand first: it may hold random bits or a noise.
  ~MpfrNumber();

  /// The value rounded to `precision` bits in the direction named.
  /// Throws  InvalidParameter for a precision out of range.
  [[nodiscard]] static MpfrNumber rounded(const Rational& value, unsigned precision, mpfr_rnd_t direction);
  /// A number of just enough bits to hold the value.
  /// Throws  InvalidParameter unless the value is dyadic (an integer over a power of two).
  [[nodiscard]] static MpfrNumber exactly(const Rational& dyadic);
  /// Throws  InvalidParameter for NaN and infinities.
  [[nodiscard]] static MpfrNumber exactly(double value);

  [[nodiscard]] mpfr_ptr get() noexcept { return value_; }
  [[nodiscard]] mpfr_srcptr get() const noexcept { return value_; }
  /// Bits of the significand.
  [[nodiscard]] unsigned precision() const noexcept { return static_cast<unsigned>(mpfr_get_prec(value_)); }
  /// The exact value.
  /// Throws  InvalidParameter for NaN and infinities.
  [[nodiscard]] Rational rational() const;
  /// The nearest double, ties to even; exact if the value is a double. +-inf beyond the range.
  [[nodiscard]] double nearest_double() const noexcept;

  /// Numeric equality; -0 equals +0 and NaN equals nothing.
  friend bool operator==(const MpfrNumber& a, const MpfrNumber& b) noexcept {
    return mpfr_equal_p(a.value_, b.value_) != 0;
  }

 private:
  mpfr_t value_;
};

/// A borrowed MPFR value, so that functions take both `mpfr_t` and MpfrNumber.
/// Requires  the value outlives the call.
class MpfrView final {
 public:
  MpfrView(mpfr_srcptr value) noexcept : value_(value) {}              // NOLINT(google-explicit-constructor)
  MpfrView(const MpfrNumber& value) noexcept : value_(value.get()) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] mpfr_srcptr get() const noexcept { return value_; }

 private:
  mpfr_srcptr value_;
};

/// While alive, MPFR's exponent range on this thread is the default one, +-(2^30 - 1). An exponent
/// below it is drawn with probability 2^-(2^30); a program that had narrowed the range (to imitate
/// doubles, say) would otherwise turn rare noises into zeros and lose the proof. And floating point is at its
/// default, for the doubles that say where to look.
class ExponentRange final {
 public:
  ExponentRange() noexcept;
  ~ExponentRange();
  ExponentRange(const ExponentRange&) = delete;
  ExponentRange& operator=(const ExponentRange&) = delete;

 private:
  DefaultFloatingPoint floating_point_;
  mpfr_exp_t emin_;
  mpfr_exp_t emax_;
};

}  // namespace epsilog::accounting
