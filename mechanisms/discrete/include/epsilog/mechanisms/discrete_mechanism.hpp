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
// Timing   Rejection samplers: see mechanisms/discrete/discrete_sampler.hpp for what their time tells. The time
//          of the exact arithmetic around them grows with the digits of the answer and the noise.
// Thread-safety: a constructed mechanism is immutable; release() may run concurrently if the bit
//          sources may.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/mechanisms/answer_interval.hpp"
#include "epsilog/mechanisms/answer_noise.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "epsilog/mechanisms/discrete_parameters.hpp"
#include "epsilog/mechanisms/invented_answer.hpp"

namespace epsilog::mechanisms {

class DiscreteSampler;

class DiscreteMechanism final {
 public:
  using Options = DiscreteOptions;
  using Parameters = DiscreteParameters;

  /// Chooses grid and scale. gaussian with m = 1 takes the least scale that theorem 7 certifies for the
  /// inflated sensitivity; with m > 1 the least that the zCDP bound does. With `rho`, whatever m is, the
  /// least whose zCDP loss is at most that, rounded up to 64 bits.
  /// Ensures  parameters().adjusted <= loss.epsilon and adjusted_delta <= loss.delta.
  /// Throws   InvalidParameter naming the field, before any bit is drawn.
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

  /// What release() would draw if these were its answers: the same law, bit for bit from the same bits.
  /// Nothing is charged, because nobody's data enter; nothing seals the values, and no ledger takes them.
  /// Requires  answers not empty.
  /// Throws    InvalidParameter (no answer), EntropyUnavailable.
  [[nodiscard]] std::vector<Rational> draw_invented(std::span<const InventedAnswer> answers,
                                                    BitSource& bits) const;

  /// Smallest a, provable for every clamped answer, with P(|release - clamped answer| > a) <= alpha,
  /// each coordinate by itself: a multiple of g if `on_grid`, else of g / 2, because rounding
  /// the answer to the grid counts. No answer enters.
  /// Requires  0 < alpha < 1.
  /// Throws    InvalidParameter.
  [[nodiscard]] Rational accuracy_up(const Rational& alpha) const;

  /// Which answers a release leaves plausible (answer_interval.hpp). No interval goes farther from its value,
  /// clamped to the range, than accuracy_up(alpha).
  /// Requires  0 < alpha < 1.
  /// Throws    InvalidParameter.
  [[nodiscard]] AnswerIntervals intervals(const Rational& alpha) const;

  /// Continuous noise that this is nearest to: of the same scale, Gaussian noise with a share below 1.
  [[nodiscard]] AnswerNoise noise() const;

 private:
  /// Requires  answers not empty.
  [[nodiscard]] std::vector<Rational> draw_values(std::span<const Rational> answers, BitSource& bits) const;

  Parameters parameters_;
  Rational lower_;
  Rational upper_;
  long grid_exponent_;
  Integer lowest_;  ///< the ends of the range, rounded, in steps of the grid
  Integer highest_;
  std::shared_ptr<const DiscreteSampler> sampler_;
};

}  // namespace epsilog::mechanisms
