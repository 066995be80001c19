#include "tilted_loss.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 128;
/// Standard deviations of the tilted loss that a period should hold on each side, and the natural logarithm
/// of the weight that should be left after it.
constexpr double kReach = 10;
constexpr double kDecay = 42;
constexpr std::size_t kPeriodMin = 16;
constexpr std::size_t kPeriodMax = std::size_t{1} << 22;
constexpr double kTiltFloor = 2;      // over the standard deviation
constexpr double kTiltCeiling = 300;  // over the step
constexpr int kTiltSteps = 40;
/// Spectral values below this are only bounded.
constexpr double kLeftOut = 0x1p-72;

std::size_t period(const std::vector<GridLaw>& laws, double step, double tilt, double variance) {
  const double reach = kReach * std::sqrt(variance);
  const double wanted = (reach + std::fmax(reach, kDecay / tilt)) / step;
  std::size_t least = kPeriodMin;
  for (const GridLaw& law : laws) least = std::max(least, law.mass.size() * law.stride);
  if (!(wanted < static_cast<double>(kPeriodMax))) return std::max(std::bit_ceil(least), kPeriodMax);
  return std::bit_ceil(std::max(least, static_cast<std::size_t>(wanted) + 1));
}

/// The geometric mean of the bounds, moved towards where `too_small` changes.
template <class TooSmall>
double bisected(double low, double high, const TooSmall& too_small) {
  for (int i = 0; i < kTiltSteps && high > low * 1.01; ++i) {
    const double middle = std::sqrt(low * high);
    (too_small(middle) ? low : high) = middle;
  }
  return low;
}

double least_tilt(const std::vector<GridLaw>& laws, double step) {
  return kTiltFloor / std::sqrt(std::fmax(cumulants(laws, step, 0).variance, step * step));
}

struct Geometric {
  double start;       ///< e^(-rate * excess)
  double ratio;       ///< e^(-rate * step)
  double complement;  ///< 1 - ratio
};

Geometric geometric(const Rational& rate, const Rational& excess, const Rational& step) {
  const MpfrNumber start = exp(Enclosure(Rational(-rate * excess), kBits)).middle();
  MpfrNumber power = MpfrNumber::rounded(-rate * step, kBits, MPFR_RNDN);
  MpfrNumber complement(kBits);
  mpfr_expm1(complement.get(), power.get(), MPFR_RNDN);
  mpfr_neg(complement.get(), complement.get(), MPFR_RNDN);
  mpfr_exp(power.get(), power.get(), MPFR_RNDN);
  return {start.nearest_double(), power.nearest_double(), complement.nearest_double()};
}

/// At least the absolute value, at most sqrt 2 times it.
double size_up(const Complex& z) {
  return std::fabs(z.re) + std::fabs(z.im);
}

/// start / (1 - ratio * root) and how far from it the result can be.
Disc summed(const Geometric& series, const Complex& root) {
  const Complex divisor{series.complement + series.ratio * (1 - root.re), -series.ratio * root.im};
  const double factor = series.start / (divisor.re * divisor.re + divisor.im * divisor.im);
  return {{divisor.re * factor, -divisor.im * factor}, 32 * kUnit * factor * (1 + size_up(divisor))};
}

}  // namespace

Cumulants cumulants(const std::vector<GridLaw>& laws, double step, double tilt) {
  Cumulants total;
  for (const GridLaw& law : laws) {
    // Weights relative to the middle of the masses where tilted losses are at home.
    double peak = -HUGE_VAL;
    const double spacing = step * static_cast<double>(law.stride);
    const double rate = tilt * spacing;
    const auto exponent = [&](std::size_t i) {
      return rate * static_cast<double>(law.lowest + static_cast<std::int64_t>(i));
    };
    for (std::size_t i = 0; i < law.mass.size(); ++i) {
      if (law.mass[i] > 0) peak = std::fmax(peak, std::log(law.mass[i]) + exponent(i));
    }
    double sum = 0;
    double first = 0;
    double second = 0;
    for (std::size_t i = 0; i < law.mass.size(); ++i) {
      if (!(law.mass[i] > 0)) continue;
      const double weight = law.mass[i] * std::exp(exponent(i) - peak);
      const double loss = spacing * static_cast<double>(law.lowest + static_cast<std::int64_t>(i));
      sum += weight;
      first += weight * loss;
      second += weight * loss * loss;
    }
    const double count = static_cast<double>(law.count);
    const double mean = first / sum;
    total.value += count * (peak + std::log(sum));
    total.mean += count * mean;
    total.variance += count * std::fmax(0, second / sum - mean * mean);
  }
  return total;
}

double tilt_for_epsilon(const std::vector<GridLaw>& laws, double step, double epsilon) {
  return bisected(least_tilt(laws, step), kTiltCeiling / step,
                  [&](double tilt) { return cumulants(laws, step, tilt).mean < epsilon; });
}

double tilt_for_log_delta(const std::vector<GridLaw>& laws, double step, double log_delta) {
  return bisected(least_tilt(laws, step), kTiltCeiling / step, [&](double tilt) {
    const Cumulants at = cumulants(laws, step, tilt);
    // Next to the largest loss nearly all is one atom, and delta at the mean is a part of the standard
    // deviation.
    const double deviation = std::sqrt(at.variance);
    const double spread = 1 + 2.5 / deviation + tilt * (1 + tilt) * 2.5 * deviation;
    return at.value - tilt * at.mean - std::log(spread) > log_delta;
  });
}

TiltedLoss::TiltedLoss(std::vector<GridLaw> laws, Rational step, double tilt, Side side)
    : laws_(std::move(laws)),
      step_(std::move(step)),
      tilt_(tilt),
      side_(side),
      tilted_(cumulants(laws_, step_.get_d(), tilt)),
      scale_(kBits),
      infinite_(kBits),
      roots_(period(laws_, step_.get_d(), tilt, tilted_.variance)) {
  EPSILOG_INVARIANT(tilt > 0);
  const mpfr_rnd_t direction = side == Side::up ? MPFR_RNDU : MPFR_RNDD;
  const mpfr_rnd_t opposite = side == Side::up ? MPFR_RNDD : MPFR_RNDU;
  std::vector<LossSpectrum::Law> tilted_laws;
  mpfr_set_ui(scale_.get(), 1, MPFR_RNDN);
  MpfrNumber finite(scale_);
  MpfrNumber power(kBits);
  for (const GridLaw& law : laws_) {
    divisors_.push_back(moment_up(law, step_, tilt));
    tilted_laws.push_back(
        {tilted(law, step_, tilt, divisors_.back(), side), law.lowest, law.stride, law.count});
    mpfr_pow_ui(power.get(), divisors_.back().get(), law.count, direction);
    mpfr_mul(scale_.get(), scale_.get(), power.get(), direction);
    mpfr_set_d(power.get(), -law.infinite, MPFR_RNDN);
    mpfr_add_ui(power.get(), power.get(), 1, opposite);
    mpfr_pow_ui(power.get(), power.get(), law.count, opposite);
    mpfr_mul(finite.get(), finite.get(), power.get(), opposite);
  }
  mpfr_ui_sub(infinite_.get(), 1, finite.get(), direction);
  const LossSpectrum spectrum(roots_, tilted_laws);
  left_out_ = spectrum.left_out();
  for (const auto& [frequency, value] : spectrum.values()) {
    const double size = size_up(value.centre) + value.radius;
    if (size < kLeftOut) {
      left_out_ += size;
    } else {
      values_.emplace_back(frequency, value);
    }
  }
}

std::optional<double> TiltedLoss::weighted_sum(const Integer& first, const Rational& excess) const {
  stop_if_requested();
  const std::size_t n = roots_.size();
  const Geometric slow = geometric(Rational(tilt_), excess, step_);
  const Geometric fast = geometric(Rational(tilt_) + 1, excess, step_);
  if (!(slow.complement > 0x1p-36)) return std::nullopt;
  const auto offset = static_cast<std::size_t>(mpz_fdiv_ui(first.get_mpz_t(), n));
  double sum = 0;
  double error = 0;
  double total = 0;
  for (const auto& [frequency, value] : values_) {
    const Complex root = roots_.at(frequency);
    const Disc a = summed(slow, root);
    const Disc b = summed(fast, root);
    const Complex difference{a.centre.re - b.centre.re, a.centre.im - b.centre.im};
    const Complex weight = roots_.at(offset * frequency & (n - 1)) * difference;
    const double weight_error = a.radius + b.radius + 16 * kUnit * (size_up(a.centre) + size_up(b.centre));
    const double twice = frequency == 0 || frequency == n / 2 ? 1 : 2;
    const double size = size_up(value.centre);
    const double product = size * size_up(weight);
    sum += twice * (value.centre.re * weight.re - value.centre.im * weight.im);
    error +=
        twice * (value.radius * (size_up(weight) + weight_error) + size * weight_error + 4 * kUnit * product);
    total += twice * product;
  }
  error += total * kUnit * static_cast<double>(values_.size() + 8);
  error += 4 * left_out_ * (slow.start / slow.complement + 1);
  // A relative 2^-20 covers what rounding took from the sums of positive terms themselves: fewer than 2^22,
  // 2^-52 each.
  error = error * (1 + 0x1p-20) + 0x1p-900;
  const double scaled = (side_ == Side::up ? sum + error * (1 + 0x1p-30) : sum - error * (1 + 0x1p-30)) /
                        static_cast<double>(n);
  if (!std::isfinite(scaled)) return std::nullopt;
  return std::fmax(0, scaled);
}

MpfrNumber TiltedLoss::beyond_up(const Integer& index, double tilt) const {
  const Rational further = Rational(tilt) - Rational(tilt_);
  MpfrNumber bound = exp(Enclosure(Rational(-further * step_ * index), kBits)).high();
  MpfrNumber power(kBits);
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    const MpfrNumber moment = moment_up(laws_[i], step_, tilt);
    mpfr_div(power.get(), moment.get(), divisors_[i].get(), MPFR_RNDU);
    mpfr_pow_ui(power.get(), power.get(), laws_[i].count, MPFR_RNDU);
    mpfr_mul(bound.get(), bound.get(), power.get(), MPFR_RNDU);
  }
  return bound;
}

MpfrNumber TiltedLoss::images_up(const Integer& first) const {
  const auto n = static_cast<unsigned long>(roots_.size());
  const Rational whole = Rational(-Rational(tilt_) * step_ * n);
  const double further = std::fmin(kReach / std::sqrt(tilted_.variance), kTiltCeiling / step_.get_d());
  MpfrNumber bound = exp(Enclosure(Rational(whole / 2), kBits)).high();
  mpfr_mul_d(bound.get(), bound.get(), 1 + 0x1p-8, MPFR_RNDU);
  mpfr_add(bound.get(), bound.get(), beyond_up(first + n, tilt_ + further).get(), MPFR_RNDU);
  const MpfrNumber untilted = beyond_up(first - n / 2, 0);
  const MpfrNumber below = beyond_up(first - n / 2, tilt_ - further);
  mpfr_add(bound.get(), bound.get(),
           mpfr_less_p(untilted.get(), below.get()) != 0 ? untilted.get() : below.get(), MPFR_RNDU);
  MpfrNumber left(kBits);
  mpfr_ui_sub(left.get(), 1, exp(Enclosure(whole, kBits)).high().get(), MPFR_RNDD);
  mpfr_div(bound.get(), bound.get(), left.get(), MPFR_RNDU);
  return bound;
}

std::optional<MpfrNumber> TiltedLoss::finite_delta(const Rational& epsilon) const {
  const mpfr_rnd_t direction = side_ == Side::up ? MPFR_RNDU : MPFR_RNDD;
  const Integer first = floor(epsilon / step_) + 1;
  const std::optional<double> sum = weighted_sum(first, step_ * first - epsilon);
  if (!sum) return std::nullopt;
  MpfrNumber result(kBits);
  mpfr_set_d(result.get(), *sum, MPFR_RNDN);
  if (side_ == Side::down) {
    mpfr_sub(result.get(), result.get(), images_up(first).get(), MPFR_RNDD);
    if (!(mpfr_sgn(result.get()) > 0)) return MpfrNumber(kBits);
  }
  const Enclosure untilted = exp(Enclosure(Rational(-Rational(tilt_) * epsilon), kBits));
  mpfr_mul(result.get(), result.get(), (side_ == Side::up ? untilted.high() : untilted.low()).get(),
           direction);
  mpfr_mul(result.get(), result.get(), scale_.get(), direction);
  if (mpfr_number_p(result.get()) == 0) return std::nullopt;
  return result;
}

}  // namespace epsilog::accounting
