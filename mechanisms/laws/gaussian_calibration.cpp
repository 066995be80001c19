#include "epsilog/mechanisms/gaussian_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "discrete_gaussian_law.hpp"
#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"
#include "gaussian_sums.hpp"

namespace epsilog::mechanisms {

using accounting::Enclosure;
using accounting::ExponentRange;
using accounting::kRefinementMax;
using accounting::last_at_most;
using accounting::log2_estimate;
using accounting::MpfrNumber;
using accounting::narrow_up;
using accounting::require_positive;
using accounting::require_probability;

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

}  // namespace epsilog::mechanisms
