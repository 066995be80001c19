// What a discrete mechanism is asked for, and the numbers it then has.
#pragma once

#include <cstdint>
#include <optional>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

enum class DiscreteNoise { laplace, gaussian };

struct DiscreteOptions {
  DiscreteNoise noise = DiscreteNoise::laplace;
  accounting::ApproximateLoss loss;  ///< epsilon > 0; delta = 0 for laplace, 0 < delta < 1 for gaussian
  Rational sensitivity;              ///< largest L1 change of the answer by one unit, > 0
  Rational sensitivity_l2_squared;   ///< square of the largest L2 change, > 0; read by gaussian only
  std::uint64_t coordinates = 1;     ///< m: how many coordinates one unit can change, >= 1
  Rational lower;                    ///< public range of each coordinate, lower < upper;
  Rational upper;                    ///<   answers outside are clamped silently
  /// A power of two. Absent: answer_step if that is a power of two of which both ends of the range are
  /// multiples; else the largest power of two at most 2^-21 D / max(m, epsilon), for gaussian
  /// 2^-21 D2 / max(sqrt m, epsilon). So rounding costs less than 2^-20 of the sensitivity, and
  /// the grid stays below 2^-20 of the noise.
  std::optional<Rational> grid = std::nullopt;
  /// gaussian only: calibrate to this zCDP loss, > 0, instead of to `loss`, which must follow from it:
  /// zcdp_delta_up(rho, epsilon) <= delta.
  std::optional<Rational> rho = std::nullopt;
  /// Public fact, if known: every clamped answer is a multiple of this (1 for counts), > 0.
  std::optional<Rational> answer_step = std::nullopt;
};

/// Everything an outsider needs to check the claim. All public.
struct DiscreteParameters {
  DiscreteNoise noise = DiscreteNoise::laplace;
  Rational sensitivity;
  Rational sensitivity_l2_squared;
  std::uint64_t coordinates = 1;
  Rational grid;  ///< g, a power of two
  /// Nothing was inflated: answer_step and both ends of the range are multiples of g, and so is the
  /// sensitivity if m = 1.
  bool on_grid = false;
  /// laplace: L1 sensitivity after rounding, g ceil(D/g) for m = 1, else D + m g. gaussian: square of the
  /// L2 sensitivity, (g ceil(D2/g))^2 for m = 1, else (D2 + g sqrt m)^2 rounded up.
  Rational inflated;
  Rational scale;  ///< s in the unit of the answer; laplace: inflated / epsilon exactly
  accounting::ApproximateLoss charged;
  Rational adjusted;        ///< proved epsilon, <= charged.epsilon; laplace: inflated / scale exactly
  Rational adjusted_delta;  ///< proved delta at that epsilon, <= charged.delta; 0 for laplace
  Rational rho;             ///< gaussian: inflated / (2 s^2), the zCDP loss; 0 for laplace
};

}  // namespace epsilog::mechanisms
