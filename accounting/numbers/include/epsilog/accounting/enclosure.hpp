// An interval certain to hold a real number: two MPFR numbers, every operation rounded outward.
//
// For all x in X and y in Y, the result of an operation on X and Y contains that operation on x and y.
// Where an operation has no value for some member (a logarithm reaching zero, a divisor reaching zero)
// the affected bound is infinite or NaN, and no comparison with it is certain.
// Thread-safety: values. Exponents: the caller holds an ExponentRange.
#pragma once

#include <utility>

#include "epsilog/accounting/mpfr_number.hpp"

namespace epsilog::accounting {

class Enclosure final {
 public:
  /// The value, exactly if it fits in `bits`, else its two neighbours.
  Enclosure(const Rational& value, unsigned bits);
  Enclosure(unsigned long value, unsigned bits);
  /// Requires  low <= high.
  Enclosure(MpfrNumber low, MpfrNumber high) : low_(std::move(low)), high_(std::move(high)) {}

  [[nodiscard]] const MpfrNumber& low() const noexcept { return low_; }
  [[nodiscard]] const MpfrNumber& high() const noexcept { return high_; }
  [[nodiscard]] unsigned bits() const noexcept { return low_.precision(); }

  Enclosure& operator+=(const Enclosure& other);
  Enclosure& operator-=(const Enclosure& other);
  Enclosure& operator*=(const Enclosure& other);
  /// Both bounds become infinite unless the divisor is certainly positive.
  Enclosure& operator/=(const Enclosure& other);
  Enclosure& operator*=(unsigned long factor);
  /// Requires  divisor > 0.
  Enclosure& operator/=(unsigned long divisor);
  Enclosure& negate();
  /// numerator / X.
  /// Requires  X is certainly positive.
  Enclosure& invert(unsigned long numerator);
  /// Any number of [-radius, radius] may be added.
  Enclosure& widen(const MpfrNumber& radius);

  [[nodiscard]] bool certainly_at_most(const Rational& value) const;
  [[nodiscard]] bool certainly_above(const Rational& value) const;
  /// Both bounds are finite and high - low <= 2^-bits * low, with low > 0.
  [[nodiscard]] bool narrow(unsigned bits) const;
  /// A number between the bounds; NaN if a bound is.
  [[nodiscard]] MpfrNumber middle() const;

 private:
  MpfrNumber low_;
  MpfrNumber high_;
};

[[nodiscard]] inline Enclosure operator-(Enclosure a) {
  return a.negate();
}
[[nodiscard]] inline Enclosure operator+(Enclosure a, const Enclosure& b) {
  return a += b;
}
[[nodiscard]] inline Enclosure operator-(Enclosure a, const Enclosure& b) {
  return a -= b;
}
[[nodiscard]] inline Enclosure operator*(Enclosure a, const Enclosure& b) {
  return a *= b;
}
[[nodiscard]] inline Enclosure operator/(Enclosure a, const Enclosure& b) {
  return a /= b;
}

[[nodiscard]] inline Enclosure operator*(Enclosure a, unsigned long b) {
  return a *= b;
}
[[nodiscard]] inline Enclosure operator/(Enclosure a, unsigned long b) {
  return a /= b;
}

[[nodiscard]] Enclosure exp(const Enclosure& x);
[[nodiscard]] Enclosure log(const Enclosure& x);
/// ln(1 + x).
[[nodiscard]] Enclosure log1p(const Enclosure& x);
/// Requires  x >= 0.
[[nodiscard]] Enclosure sqrt(const Enclosure& x);
[[nodiscard]] Enclosure pi(unsigned bits);

/// log2(value) to double precision, for numbers beyond the range of double too. Not certified: for
/// choosing methods and starting points only.
/// Requires  value > 0.
[[nodiscard]] double log2_estimate(const Rational& value);

}  // namespace epsilog::accounting
