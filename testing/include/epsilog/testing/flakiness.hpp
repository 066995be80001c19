// How often a test of noise may fail by chance, for one check and for a whole suite.
//
// Bound      Flakiness 10^-k: a right mechanism fails the check with probability at most 10^-k.
// Union      n checks of flakiness 10^-(k + log10 n) each fail together, in whatever way they depend on one
//            another, with probability at most 10^-k.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/mechanisms/noise_presence.hpp"

namespace epsilog::testing {

using accounting::Integer;
using accounting::Rational;

/// Thread-safety: values.
class Flakiness final {
 public:
  /// 10^-k; k may be a fraction.
  /// Requires  0 < k <= mechanisms::kFlakinessMax.
  /// Throws    InvalidParameter.
  [[nodiscard]] static Flakiness ten_to_the_minus(const Rational& k) {
    static_cast<void>(mechanisms::flakiness_of_each_up(k, 1));  // refuses what is no level
    return Flakiness(k);
  }

  [[nodiscard]] const Rational& k() const noexcept { return k_; }
  /// The level of each of `checks` checks that share this one: k + log10(checks), rounded up.
  /// Requires  checks >= 1.   Throws  InvalidParameter.
  [[nodiscard]] Flakiness of_each(std::uint64_t checks) const {
    return Flakiness(mechanisms::flakiness_of_each_up(k_, checks));
  }
  /// The probability, rounded down.
  [[nodiscard]] Rational probability_down() const { return mechanisms::flakiness_probability_down(k_); }
  /// "10^-12": k in a few digits, rounded down, so that the probability shown is no less than the true one.
  [[nodiscard]] std::string text() const { return "10^-" + accounting::text_down(k_, 6); }

 private:
  explicit Flakiness(Rational k) : k_(std::move(k)) {}
  Rational k_;
};

/// One level for all statistical checks of a test program, handed out in equal parts:
///   static SuiteFlakiness suite(Flakiness::ten_to_the_minus(12), 40);
///   CHECK_THAT(value, NoisyEquals(42, noise, suite.next()));
/// Thread-safety: next() may be called concurrently.
class SuiteFlakiness final {
 public:
  /// Requires  checks >= 1: how many parts may be taken while the program runs.
  /// Throws    InvalidParameter.
  SuiteFlakiness(const Flakiness& total, std::uint64_t checks)
      : total_(total), each_(total.of_each(checks)), left_(checks) {}

  /// The level of one more check.
  /// Throws  InvalidParameter if all parts have been taken: the suite has grown beyond its promise.
  [[nodiscard]] const Flakiness& next() {
    std::uint64_t left = left_.load();
    do {
      if (left == 0) throw InvalidParameter("checks: more than were declared share " + total_.text());
    } while (!left_.compare_exchange_weak(left, left - 1));
    return each_;
  }
  [[nodiscard]] const Flakiness& total() const noexcept { return total_; }

 private:
  Flakiness total_;
  Flakiness each_;
  std::atomic<std::uint64_t> left_;
};

}  // namespace epsilog::testing
