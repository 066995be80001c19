#include "difference_quantile.hpp"

#include <algorithm>

#include "epsilog/accounting/enclosure.hpp"
#include "epsilog/accounting/errors.hpp"
#include "gaussian_sums.hpp"
#include "noise_quantile.hpp"

namespace epsilog::mechanisms {
namespace {

constexpr unsigned kTailBits = 80;
constexpr unsigned kNormalBits = 128;
/// Scales of two Laplace laws nearer to each other than this share are taken that far apart.
constexpr long kScalesApart = 10;
/// The search ends where less than this share of the quantile can be gained.
constexpr long kSearched = 10;

/// coefficient * e^(-distance/scale), bounded from above.
struct ExponentialTerm {
  Rational coefficient;
  Rational exponent;

  void add_to(MpfrNumber& sum) const {
    const bool positive = coefficient >= 0;
    const mpfr_rnd_t direction = positive ? MPFR_RNDU : MPFR_RNDD;
    MpfrNumber term = MpfrNumber::rounded(exponent, kTailBits, direction);
    mpfr_exp(term.get(), term.get(), direction);
    mpfr_mul_q(term.get(), term.get(), coefficient.get_mpq_t(), MPFR_RNDU);
    mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDU);
  }
};

/// The bound of both tails of E1 - b E2, |b E2| <= scale * Y + c, Y exponential of scale 1.
class LaplaceTails final {
 public:
  LaplaceTails(const AnswerNoise& first, const AnswerNoise& second, const Rational& factor, Multiple multiple)
      : first_(first), multiple_(multiple), added_(factor * second.rounding), other_(factor * second.scale) {
    const Rational& scale = first_.scale;
    const Rational apart = scale * accounting::power_of_two(-kScalesApart);
    if (abs(Rational(other_ - scale)) < apart) other_ = scale + apart;  // up: the tails rise with it
    wide_ = other_ * other_ / (other_ * other_ - scale * scale);
    narrow_ = scale / (2 * (scale - other_));
    both_ = scale / (2 * (scale + other_));
  }

  /// Below this nothing is said.
  [[nodiscard]] Rational least() const { return first_.rounding + added_; }
  [[nodiscard]] Rational scales() const { return first_.scale + other_; }

  [[nodiscard]] MpfrNumber at(const Rational& q) const {
    const Rational &scale = first_.scale, nearer = q - first_.rounding - added_;
    MpfrNumber sum(kTailBits);
    mpfr_set_zero(sum.get(), 1);
    if (other_ > 0) ExponentialTerm{wide_, -nearer / other_}.add_to(sum);
    if (multiple_ == Multiple::one && first_.step == 0) {
      ExponentialTerm{narrow_ + both_, -nearer / scale}.add_to(sum);
      return sum;
    }
    ExponentialTerm{narrow_, -nearer / scale}.add_to(sum);
    // Of E2 beyond q, where E1 may be clamped.
    if (other_ > 0) ExponentialTerm{both_, -first_.rounding / scale - (q - added_) / other_}.add_to(sum);
    if (multiple_ == Multiple::any) {
      ExponentialTerm{Rational(1, 2), -nearer / scale}.add_to(sum);
    } else {
      ExponentialTerm{both_, -(q - first_.rounding + added_ + apart_from(q)) / scale}.add_to(sum);
    }
    return sum;
  }

 private:
  /// How much more than 2q two outputs are apart, at least, that are farther than q from an answer.
  [[nodiscard]] Rational apart_from(const Rational& q) const {
    return (accounting::floor(2 * q / first_.step) + 1) * first_.step - 2 * q;
  }

  AnswerNoise first_;
  Multiple multiple_;
  Rational added_;
  Rational other_;
  Rational wide_;
  Rational narrow_;
  Rational both_;
};

/// The least number above least() with tails at most alpha, and less than a share of it more.
template <typename Tails>
Rational search_quantile(const Tails& tails, const Rational& alpha, const Rational& guess) {
  const auto enough = [&](const Rational& q) {
    return mpfr_cmp_q(tails.at(q).get(), alpha.get_mpq_t()) <= 0;
  };
  Rational low = tails.least();
  Rational high = std::max<Rational>(guess, low + tails.scales());
  for (Rational more = high / 16; !enough(high); more *= 2) {
    low = high;
    high += more;
  }
  // What was guessed is rarely far below.
  if (low < high - high / 16 && !enough(high - high / 16)) low = high - high / 16;
  while ((high - low) * accounting::power_of_two(kSearched) > high) {
    const Rational middle = MpfrNumber::rounded((low + high) / 2, kTailBits, MPFR_RNDU).rational();
    if (middle <= low || middle >= high) break;
    (enough(middle) ? high : low) = middle;
  }
  return MpfrNumber::rounded(high, kTailBits, MPFR_RNDU).rational();
}

/// Both tails of a normal law of this variance, where each side has a multiple of its own.
class NormalTails final {
 public:
  NormalTails(const Rational& variance, const Rational& first, const Rational& second)
      : variance_(variance), first_(first), second_(second) {}

  [[nodiscard]] static Rational least() { return 0; }
  [[nodiscard]] Rational scales() const { return first_ + second_; }

  [[nodiscard]] MpfrNumber at(const Rational& q) const {
    // sqrt(2/pi) is the mean of |Z|, rounded up.
    const Rational helped = q + Rational(7979, 10'000) * second_;
    accounting::Enclosure sum = normal_upper_tail(q * q / variance_, 1, kTailBits) * 2UL;
    sum += normal_upper_tail(q * q / (first_ * first_), 1, kTailBits);
    sum -= normal_upper_tail(helped * helped / (first_ * first_), 1, kTailBits);
    return sum.high();
  }

 private:
  Rational variance_;
  Rational first_;
  Rational second_;
};

Rational normal_quantile_up(const AnswerNoise& first, const AnswerNoise& second, const Rational& factor,
                            Multiple multiple, const Rational& alpha, const Rational& guess) {
  const Rational other = factor * second.scale;
  const Rational variance = first.scale * first.scale + other * other;
  const Rational rounding = first.rounding + factor * second.rounding;
  if (multiple == Multiple::any) {
    return rounding + search_quantile(NormalTails(variance, first.scale, other), alpha, guess);
  }
  MpfrNumber level = MpfrNumber::rounded(1 / alpha, kNormalBits, MPFR_RNDU);
  mpfr_log(level.get(), level.get(), MPFR_RNDU);
  MpfrNumber deviation = MpfrNumber::rounded(variance, kNormalBits, MPFR_RNDU);
  mpfr_sqrt(deviation.get(), deviation.get(), MPFR_RNDU);
  const MpfrNumber quantile = two_sided_quantile(NoiseLaw::gaussian, level, MPFR_RNDU);
  mpfr_mul(deviation.get(), deviation.get(), quantile.get(), MPFR_RNDU);
  return MpfrNumber::rounded(rounding + deviation.rational(), kTailBits, MPFR_RNDU).rational();
}

}  // namespace

Rational difference_quantile_up(const AnswerNoise& first, const AnswerNoise& second, const Rational& factor,
                                Multiple multiple, const Rational& alpha, const Rational& guess) {
  EPSILOG_INVARIANT(first.law == second.law && factor >= 0);
  const ExponentRange range;
  const Rational ideal = alpha * first.share * second.share;
  if (first.law == AnswerNoise::Law::gaussian)
    return normal_quantile_up(first, second, factor, multiple, ideal, guess);
  return search_quantile(LaplaceTails(first, second, factor, multiple), ideal, guess);
}

}  // namespace epsilog::mechanisms
