// Mechanisms of which only (epsilon, delta) is known, as many as are alike.
#pragma once

#include <cstdint>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// `count` mechanisms, each (epsilon, delta)-differentially private.
struct LossGroup {
  Rational epsilon;  ///< nats, >= 0
  Rational delta;    ///< probability, 0..1
  std::uint64_t count = 1;
};

/// The largest number of mechanisms composed here, of one group and in all.
inline constexpr std::uint64_t kComposedMax = 1'000'000'000;

}  // namespace epsilog::accounting
