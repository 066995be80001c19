// Catch2 matchers for values with noise: NoisyEquals and IsNoisy, each with a stated flakiness.
//
//   CHECK_THAT(released, NoisyEquals(42, AddedNoise::laplace(1, 1), Flakiness::ten_to_the_minus(12)));
//
// Catch2     2.13 or 3, brought by the test program; Epsilog itself does not depend on it.
// Values     Rational, Integer, built-in integers, float and double (taken exactly), or a range of such.
//            NaN and infinities match nothing.
// Power      NoisyEquals catches too much noise and wrong answers, IsNoisy catches none at all. Neither
//            catches too little noise: that takes a test of the distribution.
// Guide      docs/testing.md.
#pragma once

#if __has_include(<catch2/matchers/catch_matchers_templated.hpp>)
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_templated.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/testing/added_noise.hpp"
#include "epsilog/testing/flakiness.hpp"

namespace epsilog::testing {

#if __has_include(<catch2/matchers/catch_matchers_templated.hpp>)
using MatcherRoot = Catch::Matchers::MatcherGenericBase;
#else
using MatcherRoot = Catch::Matchers::Impl::MatcherUntypedBase;
#endif

/// The exact value, or none for NaN and infinities.
template <class Number>
[[nodiscard]] std::optional<Rational> exact_value(const Number& value) {
  if constexpr (std::same_as<Number, double> || std::same_as<Number, float>) {
    const accounting::DefaultFloatingPoint floating_point;
    if (!std::isfinite(value)) return std::nullopt;
    return Rational(static_cast<double>(value));
  } else if constexpr (std::signed_integral<Number>) {
    static_assert(sizeof(Number) <= sizeof(long));
    return Rational(static_cast<long>(value));
  } else if constexpr (std::unsigned_integral<Number>) {
    static_assert(sizeof(Number) <= sizeof(unsigned long));
    return Rational(static_cast<unsigned long>(value));
  } else {
    return Rational(value);
  }
}

/// The values of a range, or the one value. Anything not finite is none.
template <class Value>
[[nodiscard]] std::vector<std::optional<Rational>> exact_values(const Value& value) {
  std::vector<std::optional<Rational>> result;
  if constexpr (std::ranges::input_range<const Value>) {
    for (const auto& element : value) result.push_back(exact_value(element));
  } else {
    result.push_back(exact_value(value));
  }
  return result;
}

/// What a check expects: one figure for every value, or one for each.
class ExpectedFigures final {
 public:
  /// Throws  InvalidParameter for NaN, infinities and an empty range.
  template <class Expected>
  explicit ExpectedFigures(const Expected& expected)
      : one_for_each_(std::ranges::input_range<const Expected>) {
    for (std::optional<Rational>& figure : exact_values(expected)) {
      if (!figure) throw InvalidParameter("expected: not a finite number");
      figures_.push_back(std::move(*figure));
    }
    if (figures_.empty()) throw InvalidParameter("expected: no figure");
  }

  [[nodiscard]] bool fits(std::size_t values) const {
    return values > 0 && (!one_for_each_ || values == figures_.size());
  }
  [[nodiscard]] const Rational& of(std::size_t index) const {
    return one_for_each_ ? figures_[index] : figures_.front();
  }
  [[nodiscard]] std::string text() const {
    return one_for_each_ ? std::to_string(figures_.size()) + " expected figures"
                         : accounting::text(figures_.front());
  }

 private:
  bool one_for_each_;
  std::vector<Rational> figures_;
};

/// How a match went, for the failure message.
struct MatchAccount {
  std::size_t values = 0;
  std::string remark;
};

class NoisyEqualsMatcher final : public MatcherRoot {
 public:
  NoisyEqualsMatcher(ExpectedFigures expected, AddedNoise noise, Flakiness level)
      : expected_(std::move(expected)), noise_(std::move(noise)), level_(std::move(level)) {}

  template <class Value>
  [[nodiscard]] bool match(const Value& value) const {
    const auto values = exact_values(value);
    account_ = {values.size(), ""};
    if (!expected_.fits(values.size())) {
      account_.remark = "; got " + std::to_string(values.size()) + " values";
      return false;
    }
    const Rational tolerance = tolerance_for(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] && abs(*values[i] - expected_.of(i)) <= tolerance) continue;
      account_.remark = "; value " + std::to_string(i) + " is " + distance(values[i], expected_.of(i));
      return false;
    }
    return true;
  }

 protected:
  [[nodiscard]] std::string describe() const override {
    const std::size_t values = account_.values == 0 ? 1 : account_.values;
    return "is within " + accounting::text_up(tolerance_for(values), 6) + " of " + expected_.text() + " (" +
           noise_.name() + "; fails by chance with probability at most " + level_.text() + ")" +
           account_.remark;
  }

 private:
  [[nodiscard]] Rational tolerance_for(std::size_t values) const {
    return noise_.tolerance_up(level_.of_each(values));
  }
  static std::string distance(const std::optional<Rational>& value, const Rational& expected) {
    return value ? accounting::text_down(abs(*value - expected), 6) + " away" : "not finite";
  }

  ExpectedFigures expected_;
  AddedNoise noise_;
  Flakiness level_;
  mutable MatchAccount account_;
};

class IsNoisyMatcher final : public MatcherRoot {
 public:
  IsNoisyMatcher(ExpectedFigures expected, AddedNoise noise, Flakiness level)
      : expected_(std::move(expected)), noise_(std::move(noise)), level_(std::move(level)) {}

  template <class Value>
  [[nodiscard]] bool match(const Value& value) const {
    const auto values = exact_values(value);
    account_ = {values.size(), ""};
    if (!expected_.fits(values.size())) {
      account_.remark = "; got " + std::to_string(values.size()) + " values";
      return false;
    }
    for (const auto& one : values) {
      if (one) continue;
      account_.remark = "; a value is not finite";
      return false;
    }
    return noise_.complementary_down(level_) ? each_differs(values) : some_differ(values);
  }

 protected:
  [[nodiscard]] std::string describe() const override {
    const std::size_t values = account_.values == 0 ? 1 : account_.values;
    const auto narrow = noise_.complementary_down(level_.of_each(values));
    const std::string claim = narrow ? "differs by more than " + accounting::text_down(*narrow, 6) + " from "
                                     : "is not, value for value, the noiseless ";
    return claim + expected_.text() + " (" + noise_.name() + "; fails by chance with probability at most " +
           level_.text() + ")" + account_.remark;
  }

 private:
  using Values = std::vector<std::optional<Rational>>;

  [[nodiscard]] bool each_differs(const Values& values) const {
    const Rational narrow = *noise_.complementary_down(level_.of_each(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (abs(*values[i] - expected_.of(i)) <= narrow) {
        account_.remark = "; value " + std::to_string(i) + " does not";
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool some_differ(const Values& values) const {
    const Integer needed = noise_.values_needed(level_);
    if (needed > Integer(static_cast<unsigned long>(values.size()))) {
      throw InvalidParameter("values: " + std::to_string(values.size()) + " given, " + needed.get_str() +
                             " needed for flakiness " + level_.text() + " (" + noise_.name() + ")");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (*values[i] != noise_.noiseless(expected_.of(i))) return true;
    }
    account_.remark = "; all " + std::to_string(values.size()) + " values are";
    return false;
  }

  ExpectedFigures expected_;
  AddedNoise noise_;
  Flakiness level_;
  mutable MatchAccount account_;
};

/// Each value lies within a tolerance of what is expected, ends included: |value - expected| <= t. The level
/// is for all values of a range together; `expected` is one figure for all, or a range of one for each.
/// Throws  InvalidParameter for an expected NaN or infinity, an empty range, a negative tolerance.
template <class Expected>
[[nodiscard]] NoisyEqualsMatcher NoisyEquals(const Expected& expected, const AddedNoise& noise,
                                             const Flakiness& level) {
  return {ExpectedFigures(expected), noise, level};
}
/// With a tolerance t of the caller's, of which `level` is stated: it is not computed, only repeated in
/// messages, and not shared among the values of a range.
template <class Expected>
[[nodiscard]] NoisyEqualsMatcher NoisyEquals(const Expected& expected, const Rational& tolerance,
                                             const Flakiness& level) {
  return {ExpectedFigures(expected), AddedNoise::within(tolerance), level};
}

/// Noise was added. Real-valued noise: every value differs from what is expected by more than the
/// complementary tolerance, the level shared among them. Noise on integers or a grid: not all values are
/// what would come out without noise; so many are needed that this has the level stated.
/// Throws  InvalidParameter as NoisyEquals; when matching, for too few values.
template <class Expected>
[[nodiscard]] IsNoisyMatcher IsNoisy(const Expected& expected, const AddedNoise& noise,
                                     const Flakiness& level) {
  return {ExpectedFigures(expected), noise, level};
}

}  // namespace epsilog::testing
