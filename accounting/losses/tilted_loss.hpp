// The composed loss of grid laws, exponentially tilted, and the profile read off its spectrum.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, sections 4 to 6. Every bound holds whatever tilt
//           and period were chosen; they decide only how close it is.
// Thread-safety: const members may be called concurrently. The caller holds an ExponentRange.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "loss_grid.hpp"
#include "loss_spectrum.hpp"

namespace epsilog::accounting {

/// ln E e^(t loss) of the composition and its first two derivatives, in plain doubles: for choosing.
struct Cumulants {
  double value = 0;
  double mean = 0;
  double variance = 0;
};
[[nodiscard]] Cumulants cumulants(const std::vector<GridLaw>& laws, double step, double tilt);

/// Where to look for delta at that epsilon, and for the epsilon of that ln(delta).
[[nodiscard]] double tilt_for_epsilon(const std::vector<GridLaw>& laws, double step, double epsilon);
[[nodiscard]] double tilt_for_log_delta(const std::vector<GridLaw>& laws, double step, double log_delta);

class TiltedLoss final {
 public:
  /// Requires  tilt > 0; masses rounded to the side.
  TiltedLoss(std::vector<GridLaw> laws, Rational step, double tilt, Side side);

  /// sum over losses l > epsilon of P(l) (1 - e^(epsilon - l)), finite losses only, rounded to the side.
  /// nullopt if the numbers left the range in which anything can be said.
  [[nodiscard]] std::optional<MpfrNumber> finite_delta(const Rational& epsilon) const;
  /// Mass at infinity, rounded to the side.
  [[nodiscard]] const MpfrNumber& infinite() const noexcept { return infinite_; }
  [[nodiscard]] double tilt() const noexcept { return tilt_; }
  /// About where finite_delta is closest.
  [[nodiscard]] double centre() const noexcept { return tilted_.mean; }

 private:
  /// The sum of tilted weights; the bound of the side, nullopt if not finite.
  [[nodiscard]] std::optional<double> weighted_sum(const Integer& first, const Rational& excess) const;
  /// Bound of what periodic images of the losses have added to the sum.
  [[nodiscard]] MpfrNumber images_up(const Integer& first) const;
  /// P(tilted loss >= index steps) for a `tilt` above tilt_, P(<=) for one below it: Chernoff's bound.
  [[nodiscard]] MpfrNumber beyond_up(const Integer& index, double tilt) const;

  std::vector<GridLaw> laws_;
  Rational step_;
  double tilt_;
  Side side_;
  Cumulants tilted_;
  std::vector<MpfrNumber> divisors_;
  MpfrNumber scale_;  ///< product of divisor^count
  MpfrNumber infinite_;
  UnitRoots roots_;
  std::vector<std::pair<std::size_t, Disc>> values_;  ///< frequency and value, where not negligible
  double left_out_ = 0;                               ///< sum of the absolute values of the others
};

}  // namespace epsilog::accounting
