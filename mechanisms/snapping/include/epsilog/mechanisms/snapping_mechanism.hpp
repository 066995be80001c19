// The snapping mechanism as a release: calibrated parameters, a proved loss, one receipt a release.
//
// Source   Mironov, "On Significance of the Least Significant Bits for Differential Privacy", CCS
//          2012, section 5.2.
// Proof    mechanisms/proofs/snapping.md; its accuracy: mechanisms/proofs/snapping_accuracy.md.
// Measure  Pure differential privacy, for the unit over which `sensitivity` was bounded.
// Rounds   Privacy loss up, noise scale up, accuracy up; never to nearest.
// Answers  An answer y is first clamped to [lower, upper], silently, then shifted by the centre and
//          clamped to [-B, B], all exactly; none of the three can raise its sensitivity. Released is
//          centre + clamp_B(round_Lambda(y + noise)).
// Range    Without `bound` and `binding_probability`, B = max(upper - centre, centre - lower), centre
//          being the midpoint of the range rounded to a multiple of Lambda. `bound` replaces B, also by
//          less. `binding_probability` beta gives B = R0 + Lambda * ceil(1/2 + (D/eps)/Lambda *
//          (1 + 2^-39) * ln(1/beta)), R0 that maximum: an answer in the range then reaches the outer
//          clamp with probability at most beta.
// Thread-safety: a constructed mechanism is immutable; release() may run concurrently if the bit
//          sources may.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/mechanisms/answer_interval.hpp"
#include "epsilog/mechanisms/answer_noise.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "epsilog/mechanisms/hypothetical_answer.hpp"
#include "epsilog/mechanisms/invented_answer.hpp"
#include "epsilog/mechanisms/snapping_parameters.hpp"

namespace epsilog::mechanisms {

class SnappingSampler;

class SnappingMechanism final {
 public:
  using Options = SnappingOptions;
  using Parameters = SnappingParameters;

  /// Calibrates lambda, grid, centre and bound:
  ///   mpfr   lambda = RU_p((D + 18 m B eta) / (eps - 10 m eta)), eta = 2^-p;
  ///          adjusted = D/lambda + m (18 B/lambda + 10) eta, proved for B <= 2^(p-7) lambda;
  ///          published = D/lambda + m (12 B/lambda + 2) eta;
  ///          auto: the least p >= 118 with p >= k + 2 for the largest k such that 2^-k >= eps, with
  ///          m (18 B/lambda + 10) eta <= 2^-40 eps, and with B <= 2^(p-7) lambda;
  ///   exact  lambda = D/eps, adjusted = eps; B is not limited;
  ///   grid   the smallest power of two >= D/eps while lambda (1 - 2^-40) <= D/eps, else >= lambda.
  /// Ensures   parameters().adjusted <= options.epsilon, compared exactly.
  /// Throws    InvalidParameter before any bit is drawn (epsilon too small for the precision, B
  ///           beyond 2^(p-7) lambda, a precision between 54 and 117, …).
  explicit SnappingMechanism(const Options& options);

  [[nodiscard]] const Parameters& parameters() const noexcept { return parameters_; }

  /// Draws one value per coordinate; the charge covers them all together.
  ///
  /// Requires  receipt.live(), receipt.amount() == parameters().charged; answers not empty. They may
  ///           be more or fewer than `coordinates`, which only says how many one unit can change.
  /// Ensures   the proved distribution; every value is centre + a multiple of grid, or an end of the
  ///           range.
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

  /// Smallest a, rounded up, such that P(|release - y| > a) <= alpha for every clamped answer y in
  /// [centre - B, centre + B], each coordinate by itself. Exact for the ideal law; in the mpfr
  /// arithmetic alpha is first lowered by the factor 1 - (18 B/lambda + 10) 2^-p, which covers its
  /// distance from that law. Known before anything is spent: no answer enters.
  /// Requires  2^-16384 <= alpha < 1. It enters rounded down to 128 significant bits.
  /// Ensures   tail_up(accuracy_up(alpha)) <= alpha.
  /// Throws    InvalidParameter.
  [[nodiscard]] Rational accuracy_up(const Rational& alpha) const;

  /// Smallest alpha such that P(|release - y| > a) <= alpha for every clamped answer y, rounded up to
  /// 128 significant bits: the largest such probability, divided by 1 - (18 B/lambda + 10) 2^-p in the
  /// mpfr arithmetic. 1 where nothing better holds, 0 from a = 2B on, else at least 2^-16384.
  /// Requires  a >= 0.
  /// Throws    InvalidParameter.
  [[nodiscard]] Rational tail_up(const Rational& a) const;

  /// Smallest a such that P(|release - y| > a) <= alpha at one answer y that the caller made up, taken
  /// as an answer is: clamped, with errors relative to what it is clamped to. An error is the distance
  /// of y from a multiple of the grid or an end of the range, so the result is one of these, exact for
  /// the ideal law; alpha is lowered as for accuracy_up in the mpfr arithmetic. Never above
  /// accuracy_up(alpha). No guarantee for the true answer follows from it.
  /// Requires  2^-16384 <= alpha < 1.
  /// Throws    InvalidParameter.
  [[nodiscard]] Rational accuracy_at_up(const HypotheticalAnswer& y, const Rational& alpha) const;

  /// Which answers what is shown of a release leaves plausible (answer_interval.hpp), by the ideal law; alpha
  /// is lowered as for accuracy_up in the mpfr arithmetic. As released, no interval goes farther from its
  /// value, clamped to the range, than accuracy_up(alpha), except where that reaches an end of the releases
  /// and answers lie beyond it. For alpha below 2^-16384 it is the whole range.
  /// Requires  0 < alpha < 1; grid < 1 for Shown::rounded.
  /// Throws    InvalidParameter.
  [[nodiscard]] AnswerIntervals intervals(const Rational& alpha, Shown shown = Shown::as_released) const;

  /// Of the ideal law; the share is that of an alpha which accuracy_up asks of it. Nothing where an answer
  /// can lie beyond the releases.
  [[nodiscard]] std::optional<AnswerNoise> noise() const;

 private:
  /// Requires  answers not empty.
  [[nodiscard]] std::vector<Rational> draw_values(std::span<const Rational> answers, BitSource& bits) const;

  Parameters parameters_;
  Rational lower_;
  Rational upper_;
  std::shared_ptr<const SnappingSampler> sampler_;
};

}  // namespace epsilog::mechanisms
