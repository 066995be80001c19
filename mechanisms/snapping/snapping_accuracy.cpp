#include "snapping_accuracy.hpp"

#include <algorithm>
#include <optional>

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::ceil;
using accounting::floor;
using accounting::Integer;

constexpr unsigned kWorkingBits = 256;
/// No comparison here can be an equality of transcendental numbers (Lindemann-Weierstrass), so
/// refining ends; a comparison still open at this precision would be our own mistake.
constexpr unsigned kWorkingBitsMax = 1U << 16;

Rational rounded_up(const Rational& value) {
  return MpfrNumber::rounded(value, kResultBits, MPFR_RNDU).rational();
}

/// Where the outer clamp makes itself felt.
struct Ends {
  Rational whole;        ///< the largest multiple of Lambda not above B
  Rational threshold;    ///< noise beyond this, seen from 0, releases B
  Rational penultimate;  ///< the error from -B to the last multiple of Lambda below B

  explicit Ends(const SnappingLaw& law)
      : whole(floor(law.bound / law.grid) * law.grid),
        threshold((ceil(law.bound / law.grid) - Rational(1, 2)) * law.grid),
        penultimate(law.bound + threshold - law.grid / 2) {}
};

// ------------------------------------------------------------------------------- B without effect

/// The least h >= 1 with exp(-h * kappa) < alpha. ln(1/alpha) / kappa is never an integer.
Integer whole_steps(const Rational& alpha, const Rational& kappa) {
  for (unsigned bits = kWorkingBits; bits <= kWorkingBitsMax; bits *= 2) {
    const Integer low = floor(log_of_inverse_down(alpha, bits) / kappa);
    const Integer high = floor(log_of_inverse_up(alpha, bits) / kappa);
    if (low == high) return low + 1;
  }
  EPSILOG_INVARIANT(false);
}

/// Upper bound of the psi in [0, 1) that solves exp(-h kappa) cosh((1 - psi) kappa) = alpha; exactly
/// 0 when psi = 0 already suffices.
Rational partial_step_up(const Rational& alpha, const Rational& kappa, const Integer& h) {
  for (unsigned bits = kWorkingBits; bits <= kWorkingBitsMax; bits *= 2) {
    const Rational x_down = exp_down(h * kappa - log_of_inverse_up(alpha, bits), bits);
    const Rational x_up = exp_up(h * kappa - log_of_inverse_down(alpha, bits), bits);
    const Rational cosh_down = (exp_down(kappa, bits) + exp_down(-kappa, bits)) / 2;
    const Rational cosh_up = (exp_up(kappa, bits) + exp_up(-kappa, bits)) / 2;
    if (x_down >= cosh_up) return 0;
    if (x_up < cosh_down) return 1 - arcosh_down(std::max(x_down, Rational(1)), bits) / kappa;
  }
  EPSILOG_INVARIANT(false);
}

// ---------------------------------------------------------------------------------- B with effect

/// Upper bound of the d with P(noise >= d) = alpha; below 0 for alpha above 1/2.
Rational one_tail_up(const Rational& lambda, const Rational& alpha) {
  if (2 * alpha <= 1) return lambda * log_of_inverse_up(2 * alpha, kWorkingBits);
  return -lambda * log_of_inverse_down(2 * (1 - alpha), kWorkingBits);
}

/// Upper bound of the a < B with exp(-threshold/lambda) cosh((B - a)/lambda) = alpha, if there is one.
std::optional<Rational> both_ends_up(const SnappingLaw& law, const Ends& ends, const Rational& alpha) {
  const Rational x =
      exp_down(ends.threshold / law.scale - log_of_inverse_up(alpha, kWorkingBits), kWorkingBits);
  if (x < 1) return std::nullopt;
  return law.bound - law.scale * arcosh_down(x, kWorkingBits);
}

/// `value`, but not before the piece of the law it belongs to begins.
Rational from(const Rational& start, const Rational& value) {
  return value <= start ? start : rounded_up(value);
}

// ----------------------------------------------------------------------------------- at one answer

/// The least distance of an output at or above y that suffices, if one does.
std::optional<Rational> smallest_error_above(const SnappingLaw& law, const Rational& y,
                                             const Rational& alpha) {
  const Integer last = ceil(law.bound / law.grid);
  const auto distance = [&](const Integer& k) {
    return Rational((k == last ? law.bound : k == -last ? Rational(-law.bound) : Rational(k * law.grid)) - y);
  };
  const auto suffices = [&](const Integer& k) {
    return at_most(error_at(law, y, distance(k)), law.scale, alpha);
  };
  // Whatever y is, an error above Lambda/2 + lambda ln(1/alpha) has probability at most alpha.
  const Rational reach = law.grid / 2 + law.scale * log_of_inverse_up(alpha, kWorkingBits);
  Integer high = std::min<Integer>(last, ceil((y + reach) / law.grid));
  Integer low = (y == -law.bound ? Integer(-last) : std::min<Integer>(last, ceil(y / law.grid))) - 1;
  if (!suffices(high)) return std::nullopt;
  while (high - low > 1) {
    const Integer middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return distance(high);
}

}  // namespace

ErrorProbability worst_error(const SnappingLaw& law, const Rational& a) {
  const Ends ends(law);
  const Rational nearest = a - law.grid / 2;
  if (a >= 2 * law.bound) return {};
  if (2 * a < law.bound + ends.whole) {
    if (nearest < 0) return {.certain = true};
    return {.sums = {{nearest, floor(2 * a / law.grid) * law.grid - nearest}}};
  }
  if (a < law.bound) {
    const Rational to_bound = law.bound - a;
    return {.sums = {{nearest}, {ends.threshold - to_bound, ends.threshold + to_bound}}};
  }
  if (a < ends.penultimate) return {.sums = {{nearest}}};
  return {.sums = {{a - law.bound + ends.threshold}}};
}

ErrorProbability error_at(const SnappingLaw& law, const Rational& y, const Rational& a) {
  // Too far above are the outputs from this multiple on, too far below those up to minus the other.
  const Integer above = floor((a + y) / law.grid) + 1;
  const Integer below = floor((a - y) / law.grid) + 1;
  const bool can_exceed = y + a < law.bound;
  const bool can_fall_short = y - a > -law.bound;
  if (can_exceed && can_fall_short && above + below == 1) return {.certain = true};
  const Rational half(1, 2);
  const Rational to_upper = (above - half) * law.grid - y;
  const Rational to_lower = (below - half) * law.grid + y;
  if (can_exceed && can_fall_short) return {.sums = {{to_upper, to_lower}}};
  if (can_exceed) return {.sums = {{to_upper}}};
  if (can_fall_short) return {.sums = {{to_lower}}};
  return {};
}

Rational smallest_error_unclamped_up(const SnappingLaw& law, const Rational& alpha) {
  const Rational kappa = law.grid / (2 * law.scale);
  const Integer h = whole_steps(alpha, kappa);
  const Rational psi = partial_step_up(alpha, kappa, h);
  const Rational a = law.grid / 2 * (h + psi);
  return psi == 0 ? a : rounded_up(a);
}

Rational smallest_error_up(const SnappingLaw& law, const Rational& alpha) {
  const Ends ends(law);
  const Rational unclamped = smallest_error_unclamped_up(law, alpha);
  if (2 * unclamped < law.bound + ends.whole) return unclamped;

  const Rational one_tail = one_tail_up(law.scale, alpha);
  const Rational past_cell = law.grid / 2 + one_tail;
  if (ends.whole < law.bound) {
    if (const auto both = both_ends_up(law, ends, alpha)) {
      const Rational a = from((law.bound + ends.whole) / 2, std::max(past_cell, *both));
      if (a < law.bound) return a;
    }
  }
  const Rational a = from(law.bound, past_cell);
  if (a < ends.penultimate) return a;
  return std::min<Rational>(2 * law.bound, from(ends.penultimate, law.bound - ends.threshold + one_tail));
}

Rational smallest_error_at(const SnappingLaw& law, const Rational& y, const Rational& alpha) {
  const std::optional<Rational> above = smallest_error_above(law, y, alpha);
  const std::optional<Rational> below = smallest_error_above(law, -y, alpha);
  EPSILOG_INVARIANT(above || below);
  if (!above || !below) return above ? *above : *below;
  return std::min(*above, *below);
}

}  // namespace epsilog::mechanisms
