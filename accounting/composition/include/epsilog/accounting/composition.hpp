// Composition of privacy losses, by the name of the theorem.
//
// Source  Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", theorem 3.14 and
//         corollary 3.15 (sequential composition of pure losses), theorem 3.16 ((epsilon, delta)).
//         Both hold for adaptively chosen mechanisms whose sum stays within a fixed budget: Rogers,
//         Roth, Ullman, Vadhan, "Privacy Odometers and Filters", 2016, section 3.
// Thread-safety: pure functions.
#pragma once

#include <span>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/quantity.hpp"

namespace epsilog::accounting {

/// Sequential composition: the losses add, exactly. The empty composition loses nothing.
/// Throws  InvalidParameter if the sum does not fit its quantity.
[[nodiscard]] Epsilon compose_sequential(std::span<const Epsilon> losses);
[[nodiscard]] ApproximateLoss compose_sequential(std::span<const ApproximateLoss> losses);
[[nodiscard]] Epsilon compose_sequential(Epsilon first, Epsilon second);

/// The same loss `count` times.
/// Throws  InvalidParameter if the product does not fit.
[[nodiscard]] Epsilon compose_sequential_repeated(Epsilon loss, std::uint64_t count);

}  // namespace epsilog::accounting
