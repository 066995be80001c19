// Exact samplers of the discrete Laplace and the discrete Gaussian, for any rational scale, in
// integers: no floating point and no rounding is left in the law.
//
//   laplace   P(X = x) is proportional to e^(-|x| / s)           x any integer
//   gaussian  P(X = x) is proportional to e^(-x^2 / (2 s^2))
//
// Source   Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020,
//          algorithm 2 (Laplace) and algorithm 3 (Gaussian), with the trials of probability e^-x of
//          exponential_trial.hpp in place of algorithm 1, and both rejections of algorithm 3 in one.
// Proof    mechanisms/proofs/discrete_mechanisms.md.
// Tiers    Machine integers where the numbers of the scale fit a word, GMP otherwise; a trial is decided
//          from a 64-bit approximation where that suffices, by exact integers otherwise. Every tier
//          returns the same value from the same bytes.
// Timing   Rejection: how often an attempt fails is random, but independent of the value returned
//          (proof, step 5). Within an attempt the usual samplers of this law (algorithms 1-3 as
//          printed) loop about |X| / s times, which tells the noise to whoever can time a release: Jin,
//          McMurtry, Rubinstein, Ohrimenko, "Are We There Yet? Timing and Floating-Point Attacks on
//          Differential Privacy Systems", IEEE S&P 2022, arXiv 2112.05307. Here an attempt of the
//          machine tier reads the same number of bytes and runs the same instructions whatever it
//          draws, except with probability below 2^-54, when the first words leave a trial undecided.
//          What is left: division whose latency depends on the operands (a Laplace scale whose
//          denominator is not 1), two look-ups in tables of 360 and 128 bytes, and in the GMP tier
//          the sizes of numbers. Mitigated, not constant-time: a release should still answer on a
//          schedule that does not depend on when its noise was ready.
// Thread-safety: an immutable sampler; draw() may run concurrently, each call with its own words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "epsilog/accounting/rational.hpp"
#include "exponential_trial.hpp"
#include "random_words.hpp"
#include "wiped_bytes.hpp"

namespace epsilog::mechanisms {

using accounting::Integer;
using accounting::Rational;

/// The cheapest tier a sampler may use. Only tests ask for more than `machine`.
enum class SamplerTier {
  machine,  ///< machine integers where they fit, approximate trials where they decide
  general,  ///< GMP integers, approximate trials where they decide
  exact,    ///< GMP integers, every trial by exact integers
};

class DiscreteSampler final {
 public:
  /// Words drawn from must have `word_bits` bits.
  /// Throws  InvalidParameter ("scale: …") unless scale > 0.
  [[nodiscard]] static DiscreteSampler laplace(const Rational& scale, SamplerTier tier = SamplerTier::machine,
                                               unsigned word_bits = kWordBits);
  [[nodiscard]] static DiscreteSampler gaussian(const Rational& scale,
                                                SamplerTier tier = SamplerTier::machine,
                                                unsigned word_bits = kWordBits);

  /// One draw.
  /// Ensures   exactly the law above. Ends with probability 1.
  /// Throws    EntropyUnavailable.
  void draw(WipedInteger& noise, RandomWords& words) const;

  /// One attempt at a draw: false, and `noise` unspecified, if it is rejected. draw() repeats it.
  /// Throws    EntropyUnavailable.
  [[nodiscard]] bool attempt(WipedInteger& noise, RandomWords& words) const;

  /// Words that one attempt reads, whatever it draws; more only when they leave a trial undecided.
  [[nodiscard]] std::size_t attempt_words() const noexcept { return offset_words_ + 2; }
  /// Whether machine integers hold every number of a draw.
  [[nodiscard]] bool fits_machine() const noexcept { return fits_machine_; }

 private:
  enum class Law { laplace, gaussian };

  /// The scale's numbers for machine arithmetic, those of the Gaussian's trial in fixed point.
  struct Machine {
    std::uint64_t span = 0;
    std::uint64_t divisor = 0;
    std::uint64_t offset_threshold = 0;
    std::uint64_t reciprocal_high = 0;  ///< floor(2^128 / t), or 0 for t = 1
    std::uint64_t reciprocal_low = 0;
    std::uint64_t ratio = 0;          ///< floor(2^64 q), q = s^2 / t^2
    std::uint64_t inverse_ratio = 0;  ///< floor(2^62 / (2 q))
  };

  DiscreteSampler(Law law, const Rational& scale, SamplerTier tier, unsigned word_bits);
  void prepare_laplace(const Rational& scale);
  void prepare_gaussian(const Rational& scale);
  void prepare_machine();

  [[nodiscard]] bool attempt_machine(WipedInteger& noise, RandomWords& words) const;
  [[nodiscard]] bool attempt_general(WipedInteger& noise, RandomWords& words) const;
  [[nodiscard]] Comparison approximate_trial(std::uint64_t word, std::uint64_t fraction,
                                             std::uint64_t whole) const noexcept;
  [[nodiscard]] bool exact_trial(std::uint64_t word, mpz_srcptr offset, std::uint64_t whole,
                                 RandomWords& words) const;

  Law law_;
  SamplerTier tier_;
  unsigned word_bits_;
  Integer span_;     ///< t: magnitudes are offset + t V, 0 <= offset < t, V geometric;
  Integer divisor_;  ///< then divided by this, rounding down: 1 for the Gaussian
  std::size_t offset_words_ = 1;
  Integer offset_threshold_;  ///< 2^(word_bits offset_words) mod t

  // The Gaussian's trial: x = ((X t d - n)^2 + 2 n d t offset) / (2 n d t^2), s^2 = n / d.
  Integer variance_numerator_;
  Integer span_times_denominator_;
  Integer offset_factor_;
  Integer trial_denominator_;

  bool fits_machine_ = false;
  bool approximable_ = true;
  Machine machine_;
};

}  // namespace epsilog::mechanisms
