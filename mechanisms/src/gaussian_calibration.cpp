#include "epsilog/mechanisms/gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "certified_crossing.hpp"
#include "checked_probability.hpp"
#include "discrete_gaussian_law.hpp"
#include "gaussian_sums.hpp"

namespace epsilog::mechanisms {
namespace {

constexpr unsigned kBits = 176;

void require_not_negative(const Rational& value, const char* name) {
  if (value >= 0) return;
  throw InvalidParameter(std::string(name) + ": " + accounting::text(value) + " is negative");
}

unsigned bits_beyond(double log2_of_loss) {
  return static_cast<unsigned>(std::clamp(log2_of_loss, 0.0, 65536.0));
}

// ------------------------------------------------------------------------------------- continuous

/// Phi(a - b) - e^epsilon Phi(-a - b), a = mu/2, b = epsilon/mu: in terms of Mills' ratio M and the normal
/// density, with x = b - a and y = a + b, since e^epsilon phi(y) = phi(x).
Enclosure gaussian_delta(const Rational& mu, const Rational& epsilon, unsigned bits) {
  const Rational x = epsilon / mu - mu / 2;
  const Rational y = epsilon / mu + mu / 2;
  const unsigned working = bits + bits_beyond(x == 0 ? 0 : 2 * log2_estimate(abs(x))) + 16;
  const Rational x_squared = x * x;
  const Enclosure density = exp(Enclosure(-x_squared / 2, working)) / sqrt(pi(working) * 2);
  const Enclosure near = mills_ratio(x_squared, working);
  const Enclosure far = mills_ratio(y * y, working);
  if (x > 0) return density * (near - far);
  return Enclosure(1UL, working) - density * (near + far);
}

/// Bits that the difference of two Mills' ratios cancels.
unsigned cancelled_bits(const Rational& mu, const Rational& epsilon) {
  const double log2_mu = log2_estimate(mu);
  const double log2_epsilon = epsilon > 0 ? log2_estimate(epsilon) : -std::numeric_limits<double>::infinity();
  return bits_beyond(std::max(-log2_mu, log2_epsilon - 2 * log2_mu));
}

/// A number near the mu = sensitivity/sigma at which the continuous delta is `delta`.
Rational starting_mu(const Rational& epsilon, const Rational& delta) {
  const bool small = delta * 2 <= 1;
  const double log_inverse = -log2_estimate(small ? delta : Rational(1 - delta)) * std::numbers::ln2;
  const double z = std::sqrt(2 * log_inverse);
  const double epsilon_double = std::exp2(std::min(log2_estimate(epsilon), 1000.0));
  const double root = std::sqrt(z * z + 2 * epsilon_double);
  if (!small) return Rational(z + root);
  return std::max(Rational(epsilon * Rational(2 / (z + root))), Rational(delta * Rational(5, 2)));
}

// --------------------------------------------------------------------------------------- discrete

/// P(Y >= a) - e^epsilon P(Y >= a + d): the half-line on which the loss exceeds epsilon.
Enclosure discrete_gaussian_delta(const Rational& s, const Rational& epsilon, const Integer& distance,
                                  unsigned bits) {
  const Rational threshold = epsilon * s * s / distance - Rational(distance) / 2;
  const Integer a = accounting::floor(threshold) + 1;
  return discrete_gaussian_upper_tail(s, a, bits) -
         discrete_gaussian_weighted_tail(s, a + distance, epsilon, bits);
}

void require_distance(const Integer& distance) {
  require_positive(distance, "distance");
}

// ------------------------------------------------------------------------------------------- zCDP

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
  Rational beta = Rational(std::exp2(low - whole)) * accounting::power_of_two(static_cast<long>(whole));
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

}  // namespace

Rational gaussian_delta_up(const Rational& sigma, const Rational& epsilon, const Rational& sensitivity) {
  require_positive(sigma, "sigma");
  require_not_negative(epsilon, "epsilon");
  require_positive(sensitivity, "sensitivity");
  const ExponentRange range;
  const Rational mu = sensitivity / sigma;
  const unsigned bits = kBits + cancelled_bits(mu, epsilon);
  return std::min(Rational(1),
                  narrow_up([&](unsigned precision) { return gaussian_delta(mu, epsilon, precision); }, bits,
                            kRefinementMax + 4 * bits));
}

Rational gaussian_sigma_up(const Rational& epsilon, const Rational& delta, const Rational& sensitivity) {
  require_positive(epsilon, "epsilon");
  require_probability(delta, "delta");
  require_positive(sensitivity, "sensitivity");
  const ExponentRange range;
  const Rational mu = starting_mu(epsilon, delta);
  const unsigned bits = kBits + cancelled_bits(mu, epsilon) + bits_beyond(-log2_estimate(1 - delta));
  return last_at_most({.probability =
                           [&](const Rational& sigma, unsigned precision) {
                             return gaussian_delta(sensitivity / sigma, epsilon, precision);
                           },
                       .increasing = false,
                       .target = delta,
                       .start = sensitivity / mu,
                       .bits = bits,
                       .bits_max = kRefinementMax + 4 * bits});
}

Rational discrete_gaussian_delta_up(const Rational& scale, const Rational& epsilon, const Integer& distance) {
  require_positive(scale, "scale");
  require_not_negative(epsilon, "epsilon");
  require_distance(distance);
  const ExponentRange range;
  const unsigned bits = kBits + cancelled_bits(distance / scale, epsilon);
  return std::min(Rational(1), narrow_up(
                                   [&](unsigned precision) {
                                     return discrete_gaussian_delta(scale, epsilon, distance, precision);
                                   },
                                   bits, kRefinementMax + 4 * bits));
}

Rational discrete_gaussian_scale_up(const Rational& epsilon, const Rational& delta, const Integer& distance) {
  require_positive(epsilon, "epsilon");
  require_probability(delta, "delta");
  require_distance(distance);
  const ExponentRange range;
  const Rational mu = starting_mu(epsilon, delta);
  const unsigned bits = kBits + cancelled_bits(mu, epsilon) + bits_beyond(-log2_estimate(1 - delta));
  return last_at_most({.probability =
                           [&](const Rational& s, unsigned precision) {
                             return discrete_gaussian_delta(s, epsilon, distance, precision);
                           },
                       .increasing = false,
                       .target = delta,
                       .start = distance / mu,
                       .bits = bits,
                       .bits_max = kRefinementMax + 4 * bits});
}

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

}  // namespace epsilog::mechanisms
