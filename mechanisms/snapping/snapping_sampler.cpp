#include "snapping_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "epsilog/mechanisms/snapping.hpp"
#include "wiped_bytes.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::Integer;
using accounting::power_of_two;

constexpr unsigned kUnitBits = SnappingSampler::Integers::kUnitBits;
/// Attempts whose bytes are read at once.
constexpr std::size_t kAttemptsAtOnce = 64;

std::uint64_t big_endian(const std::byte* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  return word;
}

/// Bytes already read, then those of the source behind.
class ReplayedBits final : public BitSource {
 public:
  ReplayedBits(std::span<const std::byte> bytes, BitSource& rest) : bytes_(bytes), rest_(rest) {}
  void fill(std::span<std::byte> bytes) override {
    const std::size_t known = std::min(bytes.size(), bytes_.size());
    std::copy_n(bytes_.begin(), known, bytes.begin());
    bytes_ = bytes_.subspan(known);
    if (known < bytes.size()) rest_.fill(bytes.subspan(known));
  }

 private:
  std::span<const std::byte> bytes_;
  BitSource& rest_;
};

bool fits(const Integer& value, std::int64_t most) {
  return mpz_cmpabs_ui(value.get_mpz_t(), static_cast<unsigned long>(most)) <= 0;
}

/// numerator / 2^shift as a position, if the numerator is a machine integer.
bool machine_position(const Rational& value, long grid_exponent, SnappingSampler::Position& position) {
  const mpz_srcptr numerator = value.get_num_mpz_t();
  const mpz_srcptr denominator = value.get_den_mpz_t();
  if (mpz_size(denominator) != 1 || !mpz_fits_slong_p(numerator)) return false;
  const std::uint64_t divisor = mpz_getlimbn(denominator, 0);
  if (!std::has_single_bit(divisor)) return false;
  const long shift = grid_exponent + std::countr_zero(divisor);
  if (shift < 0 || shift > static_cast<long>(kUnitBits)) return false;
  const std::int64_t scaled = mpz_get_si(numerator);
  position.whole = scaled >> shift;  // floor: C++20 shifts arithmetically
  const std::uint64_t rest = static_cast<std::uint64_t>(scaled) & ((std::uint64_t{1} << shift) - 1);
  position.fraction = rest << (kUnitBits - static_cast<unsigned>(shift));
  return true;
}

/// floor(value / Lambda * 2^kUnitBits), taken apart.
SnappingSampler::Position general_position(const Rational& value, long grid_exponent) {
  Integer scaled = value.get_num();
  Integer divisor = value.get_den();
  const long shift = static_cast<long>(kUnitBits) - grid_exponent;
  Integer& shifted = shift >= 0 ? scaled : divisor;
  mpz_mul_2exp(shifted.get_mpz_t(), shifted.get_mpz_t(),
               static_cast<mp_bitcnt_t>(shift >= 0 ? shift : -shift));
  mpz_fdiv_q(scaled.get_mpz_t(), scaled.get_mpz_t(), divisor.get_mpz_t());
  SnappingSampler::Position position;
  position.fraction = mpz_fdiv_ui(scaled.get_mpz_t(), 1UL << kUnitBits);
  mpz_fdiv_q_2exp(scaled.get_mpz_t(), scaled.get_mpz_t(), kUnitBits);
  position.whole = mpz_get_si(scaled.get_mpz_t());
  return position;
}

/// result := multiple * 2^exponent, in lowest terms without a greatest common divisor.
/// Requires  result is zero.
void set_multiple_of_power(Rational& result, std::int64_t multiple, long exponent) {
  if (multiple == 0) return;
  if (exponent < 0) {
    const long strip = std::min<long>(std::countr_zero(static_cast<std::uint64_t>(multiple)), -exponent);
    multiple >>= strip;
    exponent += strip;
  }
  mpz_set_si(result.get_num_mpz_t(), multiple);
  if (exponent == 0) return;
  const mpz_ptr scaled = exponent > 0 ? result.get_num_mpz_t() : result.get_den_mpz_t();
  mpz_mul_2exp(scaled, scaled, static_cast<mp_bitcnt_t>(exponent > 0 ? exponent : -exponent));
}

}  // namespace

SnappingSampler::SnappingSampler(const SnappingParameters& parameters, const Rational& lower,
                                 const Rational& upper, SnappingTiers tiers, std::uint64_t timidity)
    : arithmetic_(parameters.arithmetic),
      precision_(parameters.arithmetic == Arithmetic::exact ? 0 : parameters.precision),
      lambda_(parameters.scale),
      grid_(parameters.grid),
      centre_(parameters.centre),
      bound_(parameters.bound),
      lambda_mpfr_(precision_ != 0 ? MpfrNumber::exactly(lambda_) : MpfrNumber(1U)),
      low_(std::clamp<Rational>(lower, centre_ - bound_, centre_ + bound_)),
      high_(std::clamp<Rational>(upper, centre_ - bound_, centre_ + bound_)),
      significand_bytes_(precision_ == 0 ? 8 : attempt_bytes(precision_) - kExponentBytes - 1),
      fraction_mask_(precision_ == 0 || precision_ > 64 ? ~std::uint64_t{0}
                                                        : ~std::uint64_t{0} << (65 - precision_)),
      grid_exponent_(exponent_of_power_of_two(grid_, "grid")) {
  const Rational centre_steps = centre_ / grid_;
  EPSILOG_INVARIANT(centre_steps.get_den() == 1);
  const Integer inner_steps = accounting::floor(bound_ / grid_);
  const Rational ratio = lambda_ / grid_;
  if (tiers == SnappingTiers::mpfr_only || ratio > Rational(33, 32) || (precision_ != 0 && precision_ < 8) ||
      low_ > high_ || !fits(centre_steps.get_num(), Integers::kWholeMax / 2) ||
      !fits(inner_steps, Integers::kWholeMax / 2)) {
    return;
  }
  integers_.emplace(ratio, precision_, timidity);
  centre_steps_ = centre_steps.get_num().get_si();
  inner_steps_ = inner_steps.get_si();
}

const Rational& SnappingSampler::clamped(const Rational& answer) const {
  if (answer < low_) return low_;
  return answer > high_ ? high_ : answer;
}

std::optional<SnappingSampler::Position> SnappingSampler::position(const Rational& clamped) const {
  if (!integers_) return std::nullopt;
  Position position;
  if (!machine_position(clamped, grid_exponent_, position))
    position = general_position(clamped, grid_exponent_);
  position.whole -= centre_steps_;
  return position;
}

IntegerVerdict SnappingSampler::decide(const Position& position, const std::byte* attempt) const noexcept {
  const std::uint64_t block = big_endian(attempt + significand_bytes_);
  if (block == 0) return {};
  const AttemptWords<std::uint64_t> words{
      .fraction = big_endian(attempt) & fraction_mask_,
      .exponent = static_cast<unsigned>(std::countl_zero(block)) + 1,
      .negative = (attempt[significand_bytes_ + kExponentBytes] & std::byte{1}) != std::byte{0},
  };
  return integers_->decide(position, words);
}

void SnappingSampler::append_release(std::int64_t multiple, std::vector<Rational>& releases) const {
  if (multiple > inner_steps_) {
    releases.push_back(centre_ + bound_);
  } else if (multiple < -inner_steps_) {
    releases.push_back(centre_ - bound_);
  } else {
    set_multiple_of_power(releases.emplace_back(), centre_steps_ + multiple, grid_exponent_);
  }
}

Rational SnappingSampler::draw_with_mpfr(const Rational& clamped, std::span<const std::byte> attempt,
                                         BitSource& bits) const {
  ReplayedBits from_the_start(attempt, bits);
  const Rational shifted = clamped - centre_;
  if (arithmetic_ == Arithmetic::exact) {
    return centre_ + snapped_exact(shifted, lambda_, grid_, bound_, from_the_start);
  }
  const UniformDraw draw = draw_uniform(from_the_start, precision_);
  return centre_ + snapped(shifted, draw.negative, draw.u_star, lambda_mpfr_, grid_, bound_, precision_);
}

void SnappingSampler::draw(std::span<const Rational> answers, BitSource& bits,
                           std::vector<Rational>& releases) const {
  const std::size_t size = bytes_per_answer();
  WipedBytes block(size * std::min(answers.size(), kAttemptsAtOnce));
  while (!answers.empty()) {
    const auto now = answers.first(std::min(answers.size(), kAttemptsAtOnce));
    answers = answers.subspan(now.size());
    bits.fill(block.all().first(size * now.size()));
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::span<const std::byte> attempt = block.all().subspan(i * size, size);
      const Rational& answer = clamped(now[i]);
      const std::optional<Position> at = position(answer);
      const IntegerVerdict verdict = at ? decide(*at, attempt.data()) : IntegerVerdict{};
      if (verdict.decided) {
        append_release(verdict.multiple, releases);
      } else {
        releases.push_back(draw_with_mpfr(answer, attempt, bits));
      }
    }
  }
}

}  // namespace epsilog::mechanisms
