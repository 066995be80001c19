// A schedule of mechanisms, checked and gathered: equal laws counted together, Gaussian laws made one.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, section 2.
// Thread-safety: values. The caller holds an ExponentRange.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "loss_grid.hpp"
#include "privacy_profile.hpp"

namespace epsilog::accounting {

struct Schedule {
  struct Entry {
    PrivacyProfile profile;
    std::uint64_t count;
  };
  std::vector<Entry> entries;
  /// Sum of what snapping laws lose beyond the Laplace laws that stand for them in `entries`, and Gaussian
  /// laws on a grid beyond continuous ones. 0 on the side down, where they are left out.
  Rational excess;
  /// Sum of the deltas of Gaussian laws, which are no law's of `entries`. 0 on the side down.
  Rational outright;
  /// Sum of the largest losses, the excess apart; nullopt if one is unbounded.
  std::optional<Rational> largest_loss;
  /// 1 - product of (1 - delta)^count, outward and, if it is short enough to write down, exactly.
  Rational infinite_down;
  Rational infinite_up;
};

/// The laws of the schedule. Snapping laws become Laplace laws and an excess, or pure laws where that would
/// say nothing. Gaussian laws become one: its mu^2 rounded to the side if it has too many digits.
/// Throws  InvalidParameter naming the law and the field.
[[nodiscard]] Schedule gather_schedule(std::span<const ComposedLaw> laws, Side side);

}  // namespace epsilog::accounting
