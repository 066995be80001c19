#include "epsilog/accounting/zcdp.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 176;

void require_not_negative(const Rational& value, const char* name) {
  if (value >= 0) return;
  throw InvalidParameter(std::string(name) + ": " + text(value) + " is negative");
}

unsigned bits_beyond(double log2_of_loss) {
  return static_cast<unsigned>(std::clamp(log2_of_loss, 0.0, 65536.0));
}

/// ln of the bound at order 1 + beta: convex in beta (proofs/gaussian_calibration.md, section 4).
Enclosure log_of_bound(const Rational& rho, const Rational& epsilon, const Rational& beta, unsigned bits) {
  const Enclosure order_part(beta * ((1 + beta) * rho - epsilon), bits);
  const Enclosure exact_beta(beta, bits);
  return order_part - exact_beta * log1p(Enclosure(1 / beta, bits)) - log1p(exact_beta);
}

/// The order that makes the bound smallest, less 1: the zero of (1 + 2 beta) rho - epsilon - ln(1 + 1/beta),
/// which rises in beta. Any positive number gives a valid bound, so nothing here needs to be certified.
Rational best_order_minus_one(const Rational& rho, const Rational& epsilon, unsigned bits) {
  const auto slope = [&](const Rational& beta) {
    return Enclosure((1 + 2 * beta) * rho - epsilon, bits) - log1p(Enclosure(1 / beta, bits));
  };
  const auto estimate = [](const Rational& value) {
    return value > 0 ? std::exp2(static_cast<long double>(log2_estimate(value))) : 0.0L;
  };
  const long double rho_estimate = estimate(rho);
  const long double epsilon_estimate = estimate(epsilon);
  double low = -1000;
  double high = 2 + std::max({0.0, log2_estimate((epsilon + 1) / rho), -log2_estimate(rho)});
  for (int halving = 0; halving < 48; ++halving) {
    const double middle = (low + high) / 2;
    const long double beta = std::exp2(static_cast<long double>(middle));
    const bool rising = (1 + 2 * beta) * rho_estimate - epsilon_estimate > std::log1p(1 / beta);
    (rising ? high : low) = middle;
  }
  const double whole = std::floor(low);
  Rational beta = Rational(std::exp2(low - whole)) * power_of_two(static_cast<long>(whole));
  for (int step = 0; step < 6; ++step) {
    const Rational curvature = 2 * rho + 1 / (beta * (1 + beta));
    const Rational next = beta - slope(beta).middle().rational() / curvature;
    if (next <= 0) break;
    beta = MpfrNumber::rounded(next, bits, MPFR_RNDN).rational();
  }
  return beta;
}

Enclosure zcdp_delta(const Rational& rho, const Rational& epsilon, unsigned bits) {
  const Rational beta = best_order_minus_one(rho, epsilon, bits);
  const Rational size = beta * ((1 + beta) * rho + epsilon) + 2;
  return exp(log_of_bound(rho, epsilon, beta, bits + bits_beyond(log2_estimate(size))));
}

/// The order that makes epsilon smallest, less 1: the zero of rho beta^2 + ln((1 + beta) delta), which rises
/// in beta. Any order is valid, so it is not certified.
double best_order_for_epsilon(const Rational& rho, const Rational& delta) {
  const double log_inverse = -log2_estimate(delta) * std::numbers::ln2;
  const double log_rho = log2_estimate(rho) * std::numbers::ln2;
  double low = -1000;  // ln beta
  double high = std::max({0.0, log_inverse, (std::log(log_inverse + 1) - log_rho) / 2 + 1});
  for (int halving = 0; halving < 200; ++halving) {
    const double middle = (low + high) / 2;
    const double log_order = middle > 30 ? middle : std::log1p(std::exp(middle));
    const bool rising = std::exp(std::min(log_rho + 2 * middle, 700.0)) + log_order > log_inverse;
    (rising ? high : low) = middle;
  }
  return std::exp(std::min(low, 700.0));
}

Enclosure zcdp_epsilon(const Rational& rho, const Rational& delta, const Rational& beta, unsigned bits) {
  const Enclosure order(1 + beta, bits);
  const Enclosure exact_beta(beta, bits);
  const Enclosure log_part = log(order * Enclosure(delta, bits)) / exact_beta;
  return order * Enclosure(rho, bits) - log_part - log1p(Enclosure(1 / beta, bits));
}

}  // namespace

Rational zcdp_delta_up(const Rational& rho, const Rational& epsilon) {
  require_not_negative(rho, "rho");
  require_not_negative(epsilon, "epsilon");
  if (rho == 0) return 0;
  const ExponentRange range;
  return std::min(Rational(1), narrow_up([&](unsigned bits) { return zcdp_delta(rho, epsilon, bits); },
                                         kBits + bits_beyond(-log2_estimate(rho)),
                                         std::max(kRefinementMax, kBits + bits_beyond(-log2_estimate(rho)))));
}

Rational zcdp_rho_down(const Rational& epsilon, const Rational& delta) {
  require_positive(epsilon, "epsilon");
  require_probability(delta, "delta");
  const ExponentRange range;
  // rho + 2 sqrt(rho ln(1/delta)) = epsilon: the simpler conversion, a little below the best; and for an
  // epsilon that hardly matters, delta is near sqrt(rho).
  const double log_inverse = -log2_estimate(delta) * std::numbers::ln2;
  const double epsilon_double = std::exp2(std::min(log2_estimate(epsilon), 1000.0));
  const double root = std::sqrt(log_inverse + epsilon_double) + std::sqrt(log_inverse);
  const Rational start =
      std::max(Rational(epsilon * epsilon / (Rational(root) * Rational(root))), Rational(delta * delta));
  const unsigned bits = kBits + bits_beyond(-log2_estimate(start)) + bits_beyond(-log2_estimate(1 - delta));
  return last_at_most({.probability = [&](const Rational& rho,
                                          unsigned precision) { return zcdp_delta(rho, epsilon, precision); },
                       .increasing = true,
                       .target = delta,
                       .start = start,
                       .bits = bits,
                       .bits_max = kRefinementMax + 4 * bits});
}

Rational zcdp_epsilon_up(const Rational& rho, const Rational& delta) {
  require_not_negative(rho, "rho");
  require_probability(delta, "delta");
  if (rho == 0) return 0;
  const ExponentRange range;
  const Rational beta = std::max(Rational(best_order_for_epsilon(rho, delta)), power_of_two(-200));
  const Enclosure epsilon =
      zcdp_epsilon(rho, delta, beta, 2 * kBits + bits_beyond(std::abs(log2_estimate(beta))));
  if (mpfr_sgn(epsilon.high().get()) <= 0) return 0;
  return MpfrNumber::rounded(epsilon.high().rational(), kResultBits, MPFR_RNDU).rational();
}

Rational zcdp_rho_of_pure(const Rational& epsilon) {
  require_not_negative(epsilon, "epsilon");
  return epsilon * epsilon / 2;
}

Rational zcdp_rho_of_gaussian(const Rational& sigma, const Rational& sensitivity) {
  require_positive(sigma, "sigma");
  require_not_negative(sensitivity, "sensitivity");
  return sensitivity * sensitivity / (2 * sigma * sigma);
}

}  // namespace epsilog::accounting
