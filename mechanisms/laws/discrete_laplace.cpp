#include "epsilog/mechanisms/discrete_laplace.hpp"

#include <algorithm>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"
#include "gaussian_sums.hpp"

namespace epsilog::mechanisms {

using accounting::Enclosure;
using accounting::ExponentRange;
using accounting::kRefinementMax;
using accounting::kResultBits;
using accounting::last_at_most;
using accounting::log2_estimate;
using accounting::narrow_up;
using accounting::require_positive;
using accounting::require_probability;
using accounting::size_in_bits;

namespace {

/// P(|X| >= a) = 2 q^a / (1 + q), q = exp(-1/s), for a >= 1.
Enclosure two_sided_tail(const Rational& s, const Integer& a, unsigned bits) {
  const auto guard = static_cast<unsigned>(std::clamp(log2_estimate(a / s), 0.0, 4096.0));
  const unsigned working = bits + guard + 16;
  const Enclosure one(1UL, working);
  return exp(Enclosure(-a / s, working)) * 2 / (one + exp(Enclosure(-1 / s, working)));
}

/// The real a with 2 q^a / (1 + q) = alpha: s (ln(2/alpha) - ln(1 + q)).
Enclosure real_accuracy(const Rational& s, const Rational& alpha, unsigned bits) {
  return Enclosure(s, bits) * (log(Enclosure(2 / alpha, bits)) - log1p(exp(Enclosure(-1 / s, bits))));
}

unsigned bits_for(const Rational& alpha) {
  return 176 + static_cast<unsigned>(std::max(0.0, -log2_estimate(1 - alpha)));
}

}  // namespace

Integer discrete_laplace_accuracy(const Rational& scale, const Rational& alpha) {
  require_positive(scale, "scale");
  require_probability(alpha, "alpha");
  const ExponentRange range;
  const unsigned bits_max = kRefinementMax + size_in_bits(scale) + size_in_bits(alpha);
  for (unsigned bits = 96 + static_cast<unsigned>(std::max(0.0, log2_estimate(scale)));;
       bits = std::min(2 * bits, bits_max)) {
    const Enclosure a = real_accuracy(scale, alpha, bits);
    // The real accuracy is positive, and never an integer: q would be an algebraic number.
    const Integer low = std::max(accounting::ceil(a.low().rational()), Integer(1));
    const Integer high = std::max(accounting::ceil(a.high().rational()), Integer(1));
    if (low == high || bits >= bits_max) return high;
  }
}

Rational discrete_laplace_scale_down(const Rational& accuracy, const Rational& alpha) {
  require_positive(accuracy, "accuracy");
  require_probability(alpha, "alpha");
  const ExponentRange range;
  const Integer a = accounting::ceil(accuracy);
  const Rational minus_log_alpha = log(Enclosure(1 / alpha, 64)).high().rational();
  return last_at_most(
      {.probability = [&](const Rational& s, unsigned bits) { return two_sided_tail(s, a, bits); },
       .increasing = true,
       .target = alpha,
       .start = (a - Rational(1, 2)) / minus_log_alpha,
       .bits = bits_for(alpha),
       .bits_max = kRefinementMax + size_in_bits(a) + size_in_bits(alpha)});
}

Rational discrete_laplace_tail_up(const Rational& scale, const Integer& a) {
  require_positive(scale, "scale");
  if (a <= 0) return 1;
  const ExponentRange range;
  return narrow_up([&](unsigned bits) { return two_sided_tail(scale, a, bits); }, kResultBits,
                   kRefinementMax + size_in_bits(scale) + size_in_bits(a));
}

}  // namespace epsilog::mechanisms
