// Discrete Laplace and discrete Gaussian noise on a power-of-two grid, as a release.
//
// Source   Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, arXiv
//          2004.00010: the laws, theorem 7 (loss of one coordinate), proposition 5 (zCDP, which adds).
// Proof    mechanisms/proofs/discrete_mechanisms.md.
// Measure  laplace: pure differential privacy. gaussian: (epsilon, delta), and rho-zCDP. For the unit over
//          which the sensitivities were bounded.
// Release  An answer is clamped to [lower, upper], silently, then rounded to the nearest multiple of the
//          grid, ties up, then an exact draw times the grid is added: an exact sum of multiples of the
//          grid, never a floating-point one. It is not clamped again.
// Rounds   Sensitivity, scale, loss and accuracy up; never to nearest.
// Timing   Rejection samplers: see mechanisms/src/discrete_sampler.hpp for what their time tells. The time
//          of the exact arithmetic around them grows with the digits of the answer and the noise.
// Thread-safety: a constructed mechanism is immutable; release() may run concurrently if the bit
//          sources may.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

class DiscreteSampler;

enum class DiscreteNoise { laplace, gaussian };

class DiscreteMechanism final {
 public:
  struct Options {
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
  struct Parameters {
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

  /// Chooses grid and scale. gaussian with m = 1 takes the least scale that theorem 7 certifies for the
  /// inflated sensitivity; with m > 1 the least that the zCDP bound does. With `rho`, whatever m is, the
  /// least whose zCDP loss is at most that, rounded up to 64 bits. Ensures   parameters().adjusted <=
  /// loss.epsilon and adjusted_delta <= loss.delta. Throws    InvalidParameter naming the field, before any
  /// bit is drawn.
  explicit DiscreteMechanism(const Options& options);

  [[nodiscard]] const Parameters& parameters() const noexcept { return parameters_; }

  /// Draws one value per coordinate; the charge covers them all together.
  ///
  /// Requires  receipt.live(), receipt.amount() == parameters().charged; answers not empty. They may
  ///           be more or fewer than `coordinates`, which only says how many one unit can change.
  /// Ensures   every value is a multiple of the grid; exactly the proved distribution.
  /// Throws    InvalidParameter (receipt, no answer), EntropyUnavailable. The charge is then not
  ///           refunded here. Random bits held here are overwritten before it returns or throws.
  [[nodiscard]] accounting::SealedRelease release(std::span<const Rational> answers,
                                                  accounting::ChargeReceipt receipt, BitSource& bits) const;

  /// Smallest a, provable for every clamped answer, with P(|release - clamped answer| > a) <= alpha,
  /// each coordinate by itself: a multiple of g if `on_grid`, else of g / 2, because rounding
  /// the answer to the grid counts. No answer enters.
  /// Requires  0 < alpha < 1.
  /// Throws    InvalidParameter.
  [[nodiscard]] Rational accuracy_up(const Rational& alpha) const;

 private:
  Parameters parameters_;
  long grid_exponent_;
  Integer lowest_;  ///< the ends of the range, rounded, in steps of the grid
  Integer highest_;
  std::shared_ptr<const DiscreteSampler> sampler_;
};

}  // namespace epsilog::mechanisms
