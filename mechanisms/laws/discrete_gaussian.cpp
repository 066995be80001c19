#include "epsilog/mechanisms/discrete_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "discrete_gaussian_law.hpp"
#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"
#include "gaussian_sums.hpp"

namespace epsilog::mechanisms {

using accounting::at_most;
using accounting::Enclosure;
using accounting::ExponentRange;
using accounting::kRefinementMax;
using accounting::kResultBits;
using accounting::last_at_most;
using accounting::log2_estimate;
using accounting::MpfrNumber;
using accounting::narrow_up;
using accounting::require_positive;
using accounting::require_probability;
using accounting::size_in_bits;

namespace {

double mills_ratio_estimate(double x) {
  if (x > 30) return 1 / (x + 1 / x);
  return std::sqrt(std::numbers::pi / 2) * std::erfc(x / std::numbers::sqrt2) * std::exp(x * x / 2);
}

Enclosure two_sided_tail(const Rational& s, const Integer& a, unsigned bits) {
  return discrete_gaussian_upper_tail(s, a, bits) * 2;
}

/// The smallest integer whose tail is certainly at most alpha, between one known not to be and one known to
/// be.
class AccuracySearch final {
 public:
  AccuracySearch(const Rational& s, const Rational& alpha)
      : s_(s),
        alpha_(alpha),
        start_(s * two_sided_normal_quantile_estimate(alpha) + Rational(1, 2)),
        // Neighbouring tails differ by a part in s or more; exp(-u^2/2) loses 2 log2(u) bits.
        bits_(64 + static_cast<unsigned>(std::max(0.0, log2_estimate(s)) +
                                         2 * std::max(0.0, log2_estimate(start_ / s)))),
        bits_max_(kRefinementMax + size_in_bits(s) + size_in_bits(alpha)),
        total_(gaussian_total(s, bits_)) {}

  [[nodiscard]] Integer find() {
    Integer candidate = std::max(accounting::ceil(start_), Integer(1));
    while (!accepted_ || *accepted_ - rejected_ > 1) candidate = next(candidate, try_accuracy(candidate));
    return *accepted_;
  }

 private:
  /// P(|X| = x) for x >= 1.
  [[nodiscard]] Enclosure mass(const Integer& x) const {
    return exp(Enclosure(-x * x / (2 * s_ * s_), bits_)) * 2 / total_;
  }

  /// P(|X| >= a): from the neighbour looked at last, if it was one, by a single term.
  [[nodiscard]] Enclosure tail(const Integer& a) const {
    if (last_ && last_->a == a + 1) return last_->tail + mass(a);
    if (last_ && last_->a == a - 1) return last_->tail - mass(a - 1);
    return mass(a) * gaussian_tail_ratio(s_, a, bits_);
  }

  /// Decides the candidate; returns where Newton's method on ln P puts the boundary.
  Rational try_accuracy(const Integer& a) {
    const Enclosure tail = this->tail(a);
    last_ = Trial{a, tail};
    const bool decided = tail.certainly_at_most(alpha_) || tail.certainly_above(alpha_);
    const bool accept = decided ? tail.certainly_at_most(alpha_)
                                : at_most([&](unsigned bits) { return two_sided_tail(s_, a, bits); }, alpha_,
                                          std::min(2 * bits_, bits_max_), bits_max_) == true;
    if (accept) {
      accepted_ = a;
    } else {
      rejected_ = a;
    }
    const MpfrNumber excess = log(tail / Enclosure(alpha_, bits_)).middle();
    if (mpfr_number_p(excess.get()) == 0) return a;
    const double u = std::exp2(log2_estimate(a) - log2_estimate(s_));
    return a + excess.rational() * (s_ * Rational(mills_ratio_estimate(u)) + Rational(1, 2));
  }

  [[nodiscard]] Integer next(const Integer& last, const Rational& boundary) {
    const Integer wanted = accounting::ceil(boundary);
    ++trials_;
    if (!accepted_) {
      step_ *= 2;
      return std::max(wanted, Integer(last + step_ / 2));
    }
    const Integer gap = *accepted_ - rejected_;
    if (trials_ > kNewtonSteps) return rejected_ + (gap + 1) / 2;
    const Integer lowest = rejected_ + 1;
    const Integer highest = *accepted_ - 1;
    return std::clamp(wanted, lowest, std::max(lowest, highest));
  }

  struct Trial {
    Integer a;
    Enclosure tail;
  };
  static constexpr int kNewtonSteps = 24;

  const Rational& s_;
  const Rational& alpha_;
  Rational start_;
  unsigned bits_;
  unsigned bits_max_;
  Enclosure total_;
  Integer rejected_ = 0;  // P(|X| >= 0) = 1
  std::optional<Integer> accepted_;
  std::optional<Trial> last_;
  Integer step_ = 1;
  int trials_ = 0;
};

/// A scale near the one asked for: of the continuous law half a step in, or where the first term of the
/// tail is nearly all of it.
Rational starting_scale(const Integer& a, const Rational& alpha) {
  const Rational continuous = (a - Rational(1, 2)) / two_sided_normal_quantile_estimate(alpha);
  if (a <= 2 * continuous * continuous) return continuous;
  const double log_of_odds = (1 - log2_estimate(alpha)) * std::numbers::ln2;
  return a / Rational(std::sqrt(2 * log_of_odds));
}

}  // namespace

Integer discrete_gaussian_accuracy(const Rational& scale, const Rational& alpha) {
  require_positive(scale, "scale");
  require_probability(alpha, "alpha");
  const ExponentRange range;
  return AccuracySearch(scale, alpha).find();
}

Rational discrete_gaussian_scale_down(const Rational& accuracy, const Rational& alpha) {
  require_positive(accuracy, "accuracy");
  require_probability(alpha, "alpha");
  const ExponentRange range;
  const Integer a = accounting::ceil(accuracy);
  return last_at_most(
      {.probability = [&](const Rational& s, unsigned bits) { return two_sided_tail(s, a, bits); },
       .increasing = true,
       .target = alpha,
       .start = starting_scale(a, alpha),
       .bits = 160 + static_cast<unsigned>(std::max(0.0, -log2_estimate(1 - alpha))),
       .bits_max = kRefinementMax + size_in_bits(a) + size_in_bits(alpha)});
}

Rational discrete_gaussian_tail_up(const Rational& scale, const Integer& a) {
  require_positive(scale, "scale");
  if (a <= 0) return 1;
  const ExponentRange range;
  return narrow_up([&](unsigned bits) { return two_sided_tail(scale, a, bits); }, kResultBits,
                   kRefinementMax + size_in_bits(scale) + size_in_bits(a));
}

}  // namespace epsilog::mechanisms
