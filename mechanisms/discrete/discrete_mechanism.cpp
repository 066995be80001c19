#include "epsilog/mechanisms/discrete_mechanism.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "directed_functions.hpp"
#include "discrete_calibration.hpp"
#include "discrete_inversion.hpp"
#include "discrete_sampler.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "guarded_bits.hpp"
#include "invented_numbers.hpp"
#include "release_sealer.hpp"

namespace epsilog::mechanisms {
namespace {

/// Attempts whose words are fetched at once, per value: two draws in three need no more.
constexpr std::size_t kAttemptsFetched = 3;
constexpr unsigned kShareBits = 192;

DiscreteSampler sampler_of(const DiscreteMechanism::Parameters& p) {
  const Rational steps = p.scale / p.grid;
  return p.noise == DiscreteNoise::laplace ? DiscreteSampler::laplace(steps)
                                           : DiscreteSampler::gaussian(steps);
}

/// value *= 2^exponent.
void scale_by_power_of_two(mpq_ptr value, long exponent) {
  if (exponent >= 0) {
    mpq_mul_2exp(value, value, static_cast<mp_bitcnt_t>(exponent));
  } else {
    mpq_div_2exp(value, value, static_cast<mp_bitcnt_t>(-exponent));
  }
}

void require_alpha(const Rational& alpha) {
  if (alpha <= 0 || alpha >= 1) throw InvalidParameter("alpha: must lie strictly between 0 and 1");
}

}  // namespace

DiscreteMechanism::DiscreteMechanism(const Options& options)
    : parameters_(calibrate(options)),
      lower_(options.lower),
      upper_(options.upper),
      grid_exponent_(exponent_of_power_of_two(parameters_.grid, "grid")),
      lowest_(nearest_multiple_index(options.lower, grid_exponent_)),
      highest_(nearest_multiple_index(options.upper, grid_exponent_)),
      sampler_(std::make_shared<const DiscreteSampler>(sampler_of(parameters_))) {}

accounting::SealedRelease DiscreteMechanism::release(std::span<const Rational> answers,
                                                     accounting::ChargeReceipt receipt,
                                                     BitSource& bits) const {
  if (answers.empty()) throw InvalidParameter("release: no answer to release");
  const std::int64_t decision = receipt.consume(parameters_.charged);
  return ReleaseSealer::seal(decision, parameters_.charged, draw_values(answers, bits));
}

std::vector<Rational> DiscreteMechanism::draw_invented(std::span<const InventedAnswer> answers,
                                                       BitSource& bits) const {
  return draw_values(numbers_of(answers), bits);
}

std::vector<Rational> DiscreteMechanism::draw_values(std::span<const Rational> answers,
                                                     BitSource& bits) const {
  const std::size_t values_per_block = std::min(answers.size(), RandomWords::kBlockBytesMax);
  GuardedBits guarded(bits);
  RandomWords words(guarded, kAttemptsFetched * sampler_->attempt_words() * values_per_block);
  WipedInteger noise;
  std::vector<Rational> values;
  values.reserve(answers.size());
  for (const Rational& answer : answers) {
    // Rounding is monotone, so clamping the rounded answer to the rounded ends is rounding the clamped
    // one, and saves two comparisons of fractions.
    Rational& value = values.emplace_back();
    const mpz_ptr index = mpq_numref(value.get_mpq_t());
    set_nearest_multiple_index(index, answer, grid_exponent_);
    if (mpz_cmp(index, lowest_.get_mpz_t()) < 0) mpz_set(index, lowest_.get_mpz_t());
    if (mpz_cmp(index, highest_.get_mpz_t()) > 0) mpz_set(index, highest_.get_mpz_t());
    sampler_->draw(noise, words);
    mpz_add(index, index, noise.get());
    scale_by_power_of_two(value.get_mpq_t(), grid_exponent_);
  }
  return values;
}

Rational DiscreteMechanism::accuracy_up(const Rational& alpha) const {
  require_alpha(alpha);
  const Parameters& p = parameters_;
  const Integer reached = discrete_accuracy(p, alpha);
  const Rational whole = p.grid * (reached - 1);
  if (p.on_grid) return whole;
  // An answer halfway between multiples moves the two tails apart by one step (proof, "Accuracy").
  if (reached >= 2 && (discrete_tail_up(p, reached - 1) + discrete_tail_up(p, reached)) / 2 <= alpha)
    return whole;
  return whole + p.grid / 2;
}

AnswerIntervals DiscreteMechanism::intervals(const Rational& alpha) const {
  require_alpha(alpha);
  return AnswerIntervals(inverted_discrete(parameters_, {lower_, upper_}, lowest_, highest_, alpha));
}

AnswerNoise DiscreteMechanism::noise() const {
  const Parameters& p = parameters_;
  const ExponentRange range;
  const Rational steps = p.scale / p.grid;
  AnswerNoise result{
      .law = AnswerNoise::Law::laplace, .scale = p.scale, .rounding = 0, .step = 0, .share = 1};
  if (p.noise == DiscreteNoise::gaussian) {
    result.law = AnswerNoise::Law::gaussian;
    result.rounding = p.grid / 2;
    result.share = exp_down(-1 / (24 * steps * steps), kShareBits);
  } else {
    // |X| is a where |Z| is between a - d and a + 1 - d, d = s ln(2/(1 + e^(-1/s))).
    const Rational inward = -steps * log_of_inverse_up(2 / (1 + exp_up(-1 / steps, kShareBits)), kShareBits);
    result.rounding = p.grid * (1 - std::clamp<Rational>(inward, 0, Rational(1, 2)));
  }
  if (!p.on_grid) result.rounding += p.grid / 2;  // of the answer
  return result;
}

}  // namespace epsilog::mechanisms
