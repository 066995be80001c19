// Sums that are exact whatever the terms and their order, and cannot overflow.
//
// A rounding sum has a larger sensitivity than the sum it stands for (Casacuberta et al. 2022,
// "Widespread Underestimation of Sensitivity in Differentially Private Libraries"); these have not.
// Thread-safety: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::engine {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

[[nodiscard]] accounting::Integer to_integer(Int128 value);

/// A sum of integers and of squares of integers.
class IntegerSum final {
 public:
  void add(Int128 term) {
    if (term == static_cast<std::int64_t>(term)) {
      small_ += term;
    } else {
      add_large(term);
    }
  }
  void add_square(Int128 root) {
    if (root == static_cast<std::int32_t>(root)) {
      small_ += root * root;
    } else {
      add_large_square(root);
    }
  }
  [[nodiscard]] accounting::Integer value() const;

 private:
  void add_large(Int128 term);
  void add_large_square(Int128 root);

  /// Terms of at most 2^63 in size: fewer than 2^64 of them cannot leave 128 bits.
  Int128 small_ = 0;
  accounting::Integer large_ = 0;
};

/// A fixed-point number that covers the terms magnitude * 2^e with e >= kLowest and
/// magnitude * 2^e < 2^kHighest, in digits of 32 bits that are carried only now and then.
///
/// Source  Neal, "Fast exact summation using small and large superaccumulators", 2015.
template <int kLowest, int kHighest>
class FixedPointSum final {
 public:
  /// Requires  kLowest <= exponent, magnitude * 2^exponent < 2^kHighest.
  void add(UInt128 magnitude, int exponent, bool negative);
  [[nodiscard]] accounting::Rational value() const;

 private:
  static constexpr int kDigitBits = 32;
  // One digit for the terms' top end and two for the carries of up to 2^64 of them.
  static constexpr std::size_t kDigits = static_cast<std::size_t>((kHighest - kLowest) / kDigitBits + 3);
  // A term adds less than 2^32 to a digit, so 2^30 terms stay below 2^62.
  static constexpr std::uint32_t kTermsBetweenCarries = 1U << 30;

  void carry();

  std::array<std::int64_t, kDigits> digits_{};
  std::uint32_t terms_ = 0;
};

/// A sum of binary64 numbers.
/// Requires  finite terms.
class BinarySum final {
 public:
  void add(double term);
  [[nodiscard]] accounting::Rational value() const { return sum_.value(); }

 private:
  FixedPointSum<-1074, 1024> sum_;
};

/// A sum of exact squares of binary64 numbers.
/// Requires  finite roots.
class BinarySquareSum final {
 public:
  void add(double root);
  [[nodiscard]] accounting::Rational value() const { return sum_.value(); }

 private:
  FixedPointSum<-2148, 2048> sum_;
};

}  // namespace epsilog::engine
