#include "discrete_gaussian_law.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gaussian_sums.hpp"

namespace epsilog::mechanisms {
namespace {

/// Bits that exp(-u^2/2) loses to the rounding of its argument, and some for the sums.
unsigned guard_bits(const Rational& s, const Integer& a) {
  const double log2_u = log2_estimate(a) - log2_estimate(s);
  return 24 + static_cast<unsigned>(std::clamp(2 * log2_u, 0.0, 4096.0));
}

double log_erfc(double x) {
  if (x < 20) return std::log(std::erfc(x));
  const double y = 1 / (2 * x * x);
  return -x * x - std::log(x * std::sqrt(std::numbers::pi)) + std::log1p(-y * (1 - 3 * y * (1 - 5 * y)));
}

}  // namespace

Enclosure discrete_gaussian_weighted_tail(const Rational& s, const Integer& a, const Rational& epsilon,
                                          unsigned bits) {
  const unsigned working = bits + guard_bits(s, a);
  const Enclosure first = exp(Enclosure(epsilon - a * a / (2 * s * s), working));
  return first * gaussian_tail_ratio(s, a, working) / gaussian_total(s, working);
}

Enclosure discrete_gaussian_upper_tail(const Rational& s, const Integer& a, unsigned bits) {
  if (a >= 1) return discrete_gaussian_weighted_tail(s, a, 0, bits);
  return Enclosure(1UL, bits) - discrete_gaussian_weighted_tail(s, 1 - a, 0, bits);
}

Rational two_sided_normal_quantile_estimate(const Rational& alpha) {
  const double half_root_pi = std::sqrt(std::numbers::pi) / 2;
  if (alpha * 2 > 1) {
    const Rational beta = 1 - alpha;
    if (beta < Rational(1, 1'000'000)) return beta * Rational(std::sqrt(std::numbers::pi / 2));
    double x = beta.get_d() * half_root_pi;
    for (int step = 0; step < 6; ++step) x -= (std::erf(x) - beta.get_d()) * half_root_pi * std::exp(x * x);
    return Rational(x * std::numbers::sqrt2);
  }
  const double log_alpha = log2_estimate(alpha) * std::numbers::ln2;
  double x = std::sqrt(-log_alpha);
  for (int step = 0; step < 8; ++step) {
    const double value = log_erfc(x);
    x += (value - log_alpha) * half_root_pi * std::exp(value + x * x);
  }
  return Rational(x * std::numbers::sqrt2);
}

}  // namespace epsilog::mechanisms
