// A number as a program hands it in: exact, in canonical form, and never out of floating point.
//
// mpq_class alone does not do as the type of an argument: it takes a double without a word (0.3 is then
// 5404319552844595/18014398509481984), and Rational(1, -10) or Rational(2, 4) is no number to GMP, whose
// functions crash on it or miss that two values are equal. Thread-safety: values.
#pragma once

#include <gmpxx.h>

#include <compare>
#include <concepts>
#include <type_traits>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// Whether an operand of GMP's expressions is exact: integers, mpz_class, mpq_class and what is made of them.
template <class Operand>
struct IsExact : std::bool_constant<std::integral<Operand> && !std::same_as<Operand, bool>> {};
template <>
struct IsExact<Integer> : std::true_type {};
template <>
struct IsExact<Rational> : std::true_type {};
template <class Number, class Operand, class Operation>
struct IsExact<__gmp_expr<Number, __gmp_unary_expr<Operand, Operation>>> : IsExact<Operand> {};
template <class Number, class Left, class Right, class Operation>
struct IsExact<__gmp_expr<Number, __gmp_binary_expr<Left, Right, Operation>>>
    : std::bool_constant<IsExact<Left>::value && IsExact<Right>::value> {};

class Exact final {
 public:
  /// Zero.
  Exact() = default;
  // clang-format off
  template <std::integral Whole>
    requires(!std::same_as<Whole, bool>)
  Exact(Whole value)  // NOLINT(google-explicit-constructor): a whole number is exact
      : value_(static_cast<std::conditional_t<std::is_signed_v<Whole>, long, unsigned long>>(value)) {
    static_assert(sizeof(Whole) <= sizeof(long));
  }
  /// Ensures  canonical form: Rational(1, -10) is -1/10, Rational(2, 4) is 1/2.
  /// Throws   InvalidParameter for a denominator of zero.
  template <std::same_as<Rational> Number>  // itself: much is converted to one without a word
  Exact(const Number& value) {              // NOLINT(google-explicit-constructor)
    set(value);
  }
  /// Integer, or what GMP's operators make of exact numbers in canonical form.
  template <class Number, class Operation>
    requires(IsExact<__gmp_expr<Number, Operation>>::value &&
             !std::same_as<__gmp_expr<Number, Operation>, Rational>)
  Exact(const __gmp_expr<Number, Operation>& value)  // NOLINT(google-explicit-constructor)
      : value_(value) {}
  // clang-format on
  template <std::floating_point Inexact>
  Exact(Inexact) = delete;

  [[nodiscard]] const Rational& rational() const noexcept { return value_; }
  operator const Rational&() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)

  friend bool operator==(const Exact& a, const Exact& b) noexcept { return a.value_ == b.value_; }
  friend std::strong_ordering operator<=>(const Exact& a, const Exact& b) noexcept {
    return cmp(a.value_, b.value_) <=> 0;
  }

 private:
  void set(const Rational& value);
  Rational value_;
};

}  // namespace epsilog::accounting
