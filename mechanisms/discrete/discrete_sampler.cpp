#include "discrete_sampler.hpp"

#include <array>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::mechanisms {
namespace {

__extension__ using Wide = unsigned __int128;

/// Bounds the error of the Gaussian's approximate trial, in 2^-64 of probability (proof, step 4).
constexpr std::int64_t kGaussianTrialError = 256;
/// The largest V for which the fixed-point numbers of that trial cannot overflow.
constexpr std::uint64_t kWholeMax = 45;

std::uint64_t low_word(const Integer& value) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  return value.get_ui();
}

Integer shifted_up(const Integer& value, unsigned long bits) {
  Integer result;
  mpz_mul_2exp(result.get_mpz_t(), value.get_mpz_t(), bits);
  return result;
}

std::size_t bits_of(const Integer& value) {
  return mpz_sizeinbase(value.get_mpz_t(), 2);
}

void set_wide(WipedInteger& target, Wide value) {
  std::array<std::uint64_t, 2> halves = {static_cast<std::uint64_t>(value),
                                         static_cast<std::uint64_t>(value >> 64)};
  mpz_import(target.get(), halves.size(), -1, sizeof halves[0], 0, 0, halves.data());
  sodium_memzero(halves.data(), sizeof halves);
}

}  // namespace

DiscreteSampler DiscreteSampler::laplace(const Rational& scale, SamplerTier tier, unsigned word_bits) {
  return {Law::laplace, scale, tier, word_bits};
}

DiscreteSampler DiscreteSampler::gaussian(const Rational& scale, SamplerTier tier, unsigned word_bits) {
  return {Law::gaussian, scale, tier, word_bits};
}

DiscreteSampler::DiscreteSampler(Law law, const Rational& scale, SamplerTier tier, unsigned word_bits)
    : law_(law), tier_(tier), word_bits_(word_bits) {
  EPSILOG_INVARIANT(word_bits >= 2 && word_bits <= kWordBits);
  if (scale <= 0) throw InvalidParameter("scale: must be positive");
  if (law == Law::laplace) {
    prepare_laplace(scale);
  } else {
    prepare_gaussian(scale);
  }
  offset_words_ = (bits_of(span_) + word_bits - 1) / word_bits;
  offset_threshold_ = shifted_up(1, word_bits * offset_words_) % span_;
  prepare_machine();
}

void DiscreteSampler::prepare_laplace(const Rational& scale) {
  span_ = scale.get_num();
  divisor_ = scale.get_den();
}

void DiscreteSampler::prepare_gaussian(const Rational& scale) {
  const Rational variance = scale * scale;
  span_ = accounting::floor(scale) + 1;
  divisor_ = 1;
  variance_numerator_ = variance.get_num();
  span_times_denominator_ = span_ * variance.get_den();
  offset_factor_ = 2 * variance_numerator_ * span_times_denominator_;
  trial_denominator_ = offset_factor_ * span_;

  // q >= 1/4 keeps 1 / (2 q) <= 2, on which the fixed point and its error bound rest.
  approximable_ = scale >= 1;
  if (!approximable_) return;
  const Rational ratio = variance / (span_ * span_);
  machine_.ratio = low_word(accounting::floor(ratio * shifted_up(1, 64)));
  machine_.inverse_ratio = low_word(accounting::floor(shifted_up(1, 61) / ratio));
}

void DiscreteSampler::prepare_machine() {
  fits_machine_ = offset_words_ == 1 && bits_of(divisor_) <= 64;
  if (!fits_machine_) return;
  machine_.span = low_word(span_);
  machine_.divisor = low_word(divisor_);
  machine_.offset_threshold = low_word(offset_threshold_);
  if (span_ == 1) return;
  const Integer reciprocal = shifted_up(1, 128) / span_;
  machine_.reciprocal_low = low_word(reciprocal);
  machine_.reciprocal_high = low_word(reciprocal >> 64);
}

void DiscreteSampler::draw(WipedInteger& noise, RandomWords& words) const {
  while (!attempt(noise, words)) {
  }
}

bool DiscreteSampler::attempt(WipedInteger& noise, RandomWords& words) const {
  EPSILOG_INVARIANT(words.bits() == word_bits_);
  return fits_machine_ && tier_ == SamplerTier::machine ? attempt_machine(noise, words)
                                                        : attempt_general(noise, words);
}

bool DiscreteSampler::attempt_machine(WipedInteger& noise, RandomWords& words) const {
  const std::uint64_t uniform = words.next();
  const std::uint64_t geometric_and_sign = words.next();
  const std::uint64_t trial = words.next();

  const Wide product = static_cast<Wide>(uniform) * machine_.span;
  const auto offset = static_cast<std::uint64_t>(product >> word_bits_);
  const std::uint64_t rest = static_cast<std::uint64_t>(product) & (~std::uint64_t{0} >> (64 - word_bits_));
  if (rest < machine_.offset_threshold) return false;
  const std::uint64_t whole = geometric_of_e(geometric_and_sign >> 1, word_bits_ - 1, words);

  // floor(2^64 offset / t) or one less, by multiplication: a division may take longer for some offsets.
  const std::uint64_t fraction =
      offset * machine_.reciprocal_high +
      static_cast<std::uint64_t>((static_cast<Wide>(offset) * machine_.reciprocal_low) >> 64);
  const Comparison approximate = approximate_trial(trial, fraction, whole);
  if (approximate == Comparison::above) return false;
  if (approximate == Comparison::undecided) {
    WipedInteger exact_offset;
    mpz_set_ui(exact_offset.get(), offset);
    if (!exact_trial(trial, exact_offset.get(), whole, words)) return false;
  }

  const Wide undivided = static_cast<Wide>(machine_.span) * whole + offset;
  const Wide magnitude = machine_.divisor == 1 ? undivided : undivided / machine_.divisor;
  const bool negative = (geometric_and_sign & 1) != 0;
  if (negative && magnitude == 0) return false;
  set_wide(noise, magnitude);
  if (negative) mpz_neg(noise.get(), noise.get());
  return true;
}

bool DiscreteSampler::attempt_general(WipedInteger& noise, RandomWords& words) const {
  WipedInteger offset;
  for (std::size_t i = 0; i < offset_words_; ++i) {
    mpz_mul_2exp(offset.get(), offset.get(), word_bits_);
    mpz_add_ui(offset.get(), offset.get(), words.next());
  }
  const std::uint64_t geometric_and_sign = words.next();
  const std::uint64_t trial = words.next();

  WipedInteger rest;
  mpz_mul(offset.get(), offset.get(), span_.get_mpz_t());
  mpz_fdiv_r_2exp(rest.get(), offset.get(), word_bits_ * offset_words_);
  mpz_fdiv_q_2exp(offset.get(), offset.get(), word_bits_ * offset_words_);
  if (mpz_cmp(rest.get(), offset_threshold_.get_mpz_t()) < 0) return false;
  const std::uint64_t whole = geometric_of_e(geometric_and_sign >> 1, word_bits_ - 1, words);

  Comparison approximate = Comparison::undecided;
  if (tier_ != SamplerTier::exact) {
    WipedInteger fraction;
    mpz_mul_2exp(fraction.get(), offset.get(), 64);
    mpz_fdiv_q(fraction.get(), fraction.get(), span_.get_mpz_t());
    approximate = approximate_trial(trial, mpz_get_ui(fraction.get()), whole);
  }
  if (approximate == Comparison::above) return false;
  if (approximate == Comparison::undecided && !exact_trial(trial, offset.get(), whole, words)) return false;

  mpz_mul_ui(noise.get(), span_.get_mpz_t(), whole);
  mpz_add(noise.get(), noise.get(), offset.get());
  mpz_fdiv_q(noise.get(), noise.get(), divisor_.get_mpz_t());
  const bool negative = (geometric_and_sign & 1) != 0;
  if (negative && mpz_sgn(noise.get()) == 0) return false;
  if (negative) mpz_neg(noise.get(), noise.get());
  return true;
}

Comparison DiscreteSampler::approximate_trial(std::uint64_t word, std::uint64_t fraction,
                                              std::uint64_t whole) const noexcept {
  if (law_ == Law::laplace) {
    return compare_with_approximation(word, word_bits_, approximate_exp_minus(0, fraction),
                                      kApproximationError);
  }
  if (!approximable_ || whole > kWholeMax) return Comparison::undecided;
  // (V + offset/t - q)^2 / (2 q) + offset/t, with 57 bits below the point, then 114, then 112.
  const Wide position = (static_cast<Wide>(whole) << 64) | fraction;
  const Wide distance = position > machine_.ratio ? position - machine_.ratio : machine_.ratio - position;
  const auto short_distance = static_cast<std::uint64_t>(distance >> 7);
  const Wide squared = static_cast<Wide>(short_distance) * short_distance;
  const Wide quotient =
      static_cast<Wide>(static_cast<std::uint64_t>(squared >> 64)) * machine_.inverse_ratio +
      ((static_cast<Wide>(static_cast<std::uint64_t>(squared)) * machine_.inverse_ratio) >> 64);
  const Wide exponent = (quotient >> 48) + fraction;
  return compare_with_approximation(
      word, word_bits_,
      approximate_exp_minus(static_cast<std::uint64_t>(exponent >> 64), static_cast<std::uint64_t>(exponent)),
      kGaussianTrialError);
}

bool DiscreteSampler::exact_trial(std::uint64_t word, mpz_srcptr offset, std::uint64_t whole,
                                  RandomWords& words) const {
  if (law_ == Law::laplace) return below_exp_minus(word, offset, span_.get_mpz_t(), words);
  WipedInteger numerator;
  mpz_mul_ui(numerator.get(), span_.get_mpz_t(), whole);
  mpz_add(numerator.get(), numerator.get(), offset);
  mpz_mul(numerator.get(), numerator.get(), span_times_denominator_.get_mpz_t());
  mpz_sub(numerator.get(), numerator.get(), variance_numerator_.get_mpz_t());
  mpz_mul(numerator.get(), numerator.get(), numerator.get());
  mpz_addmul(numerator.get(), offset_factor_.get_mpz_t(), offset);
  return below_exp_minus(word, numerator.get(), trial_denominator_.get_mpz_t(), words);
}

}  // namespace epsilog::mechanisms
