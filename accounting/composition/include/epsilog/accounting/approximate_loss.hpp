// What a mechanism costs under approximate differential privacy: one value for both parts.
//
// A pure loss is (epsilon, 0) and converts implicitly, so that a mechanism without delta states its
// epsilon and nothing else. There is no order between two losses: neither need be within the other.
//
// Source  Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", definition 2.4.
// Thread-safety: values.
#pragma once

#include <string>

#include "epsilog/accounting/quantity.hpp"

namespace epsilog::accounting {

/// A loss under approximate differential privacy. Pure when delta is zero.
struct ApproximateLoss {
  constexpr ApproximateLoss() = default;
  constexpr ApproximateLoss(Epsilon pure) : epsilon(pure) {}  // NOLINT(google-explicit-constructor)
  constexpr ApproximateLoss(Epsilon nats, Delta probability) : epsilon(nats), delta(probability) {}

  Epsilon epsilon;  ///< nats
  Delta delta;      ///< probability, 0..1

  [[nodiscard]] constexpr bool pure() const noexcept { return delta == Delta(); }
  /// Whether both parts are at most those of `whole`.
  [[nodiscard]] constexpr bool within(const ApproximateLoss& whole) const noexcept {
    return epsilon <= whole.epsilon && delta <= whole.delta;
  }
  /// "0.1" when pure, else "(0.1, 0.000001)".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const ApproximateLoss&, const ApproximateLoss&) = default;
};

}  // namespace epsilog::accounting
