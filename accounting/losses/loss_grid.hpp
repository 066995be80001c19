// Privacy losses on a grid: laws whose profile lies above (or below) that of a mechanism, so that they may
// take its place in any composition.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, sections 1 to 4.
// Thread-safety: values. The caller holds an ExponentRange.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy_profile.hpp"

namespace epsilog::accounting {

enum class Side { up, down };

/// A finite measure on the multiples of a step: mass[i] at loss (lowest + i) * stride * step, `infinite` at
/// +infinity. A law that is wide on the grid of the others needs no more than every stride-th point.
struct GridLaw {
  std::vector<double> mass;
  std::int64_t lowest = 0;
  std::uint64_t stride = 1;
  double infinite = 0;
  std::uint64_t count = 1;
};

/// The points of the profile at 0, step, ..., last * step joined by straight lines in e^epsilon.
/// Ensures   up: every mass at least that of the law with that profile; down: at most.
[[nodiscard]] GridLaw dots_connected(const PrivacyProfile& profile, const Rational& step, std::size_t last,
                                     Side side);

/// A law on the grid whose profile lies nowhere above that of `profile`: of the same noise at a slightly
/// smaller sensitivity, verified on every cell. nullopt if none within reach verifies.
[[nodiscard]] std::optional<GridLaw> dots_below(const PrivacyProfile& profile, const Rational& step,
                                                std::size_t last);

/// The sum of independent losses of the two, each counted once: a direct convolution.
/// Requires  count == 1 and stride == 1 of both.
[[nodiscard]] GridLaw convolved(const GridLaw& a, const GridLaw& b, Side side);

/// sum of mass[i] e^(tilt * loss), rounded up.
[[nodiscard]] MpfrNumber moment_up(const GridLaw& law, const Rational& step, double tilt);

/// mass[i] e^(tilt * loss) / divisor, each rounded to the side.
/// Requires  divisor > 0.
[[nodiscard]] std::vector<double> tilted(const GridLaw& law, const Rational& step, double tilt,
                                         const MpfrNumber& divisor, Side side);

}  // namespace epsilog::accounting
