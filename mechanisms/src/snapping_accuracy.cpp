#include "snapping_accuracy.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::Integer;

constexpr unsigned kWorkingBits = 256;
/// No comparison here can be an equality of transcendental numbers (Lindemann-Weierstrass), so
/// refining ends; a comparison still open at this precision would be our own mistake.
constexpr unsigned kWorkingBitsMax = 1U << 16;
constexpr unsigned kResultBits = 128;
constexpr unsigned kBisections = 96;

Rational rounded_up(const Rational& value) {
  return MpfrNumber::rounded(value, kResultBits, MPFR_RNDU).rational();
}

// ------------------------------------------------------------------------------- B without effect

/// The least h >= 1 with exp(-h * kappa) < alpha. ln(1/alpha) / kappa is never an integer.
Integer whole_steps(const Rational& alpha, const Rational& kappa) {
  for (unsigned bits = kWorkingBits; bits <= kWorkingBitsMax; bits *= 2) {
    const Integer low = accounting::floor(log_of_inverse_down(alpha, bits) / kappa);
    const Integer high = accounting::floor(log_of_inverse_up(alpha, bits) / kappa);
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

/// Probability, doubled, that the noise passes a threshold at distance offset + slope * a.
struct Tail {
  Rational offset;
  int slope = 0;  ///< -1, 0, 1

  [[nodiscard]] Rational distance(const Rational& a) const { return offset + slope * a; }
  friend bool operator<(const Tail& l, const Tail& r) {
    return std::tie(l.offset, l.slope) < std::tie(r.offset, r.slope);
  }
};

/// Where the error can exceed a: above through one threshold, below through another.
struct TailPair {
  std::optional<Tail> above;
  std::optional<Tail> below;
  friend bool operator<(const TailPair& l, const TailPair& r) {
    return std::tie(l.above, l.below) < std::tie(r.above, r.below);
  }
};
using TailPairs = std::set<TailPair>;

/// The outputs of the clamped mechanism and the thresholds between them. Output k, |k| < last(), is
/// k * Lambda; outputs +-last() are +-B. Output >= k exactly when y + noise >= threshold(k).
class ClampedOutputs final {
 public:
  explicit ClampedOutputs(const SnappingLaw& law)
      : grid_(law.grid), bound_(law.bound), last_(accounting::ceil(law.bound / law.grid).get_si()) {}

  [[nodiscard]] long last() const { return last_; }
  [[nodiscard]] const Rational& bound() const { return bound_; }
  [[nodiscard]] Rational output(long k) const {
    if (k == last_) return bound_;
    if (k == -last_) return -bound_;
    return k * grid_;
  }
  [[nodiscard]] Rational threshold(long k) const { return (2 * k - 1) * grid_ / 2; }

  /// The largest k with output(k) < v.
  [[nodiscard]] std::optional<long> largest_below(const Rational& v) const {
    if (v <= -bound_) return std::nullopt;
    if (v > bound_) return last_;
    return std::clamp(accounting::ceil(v / grid_).get_si() - 1, -last_, last_ - 1);
  }
  [[nodiscard]] std::optional<long> smallest_above(const Rational& v) const {
    const auto mirrored = largest_below(-v);
    return mirrored ? std::optional(-*mirrored) : std::nullopt;
  }

  /// The tails at y = start + slope * a, given which outputs are too far.
  [[nodiscard]] TailPair tails(const Rational& start, int slope, std::optional<long> above,
                               std::optional<long> below) const {
    TailPair pair;
    if (above) pair.above = Tail{threshold(*above) - start, -slope};
    if (below) pair.below = Tail{start - threshold(*below + 1), slope};
    return pair;
  }

 private:
  Rational grid_;
  Rational bound_;
  long last_;
};

/// Every y at which P(|M - y| > a) can be largest, up to the mirror image y -> -y: just below
/// output(k) - a, where output k joins the upper tail; at a threshold; and at B. Between neighbours
/// of these the probability is convex in y, or constantly 1, or monotone.
TailPairs worst_answers(const ClampedOutputs& outputs, const Rational& a) {
  TailPairs pairs;
  for (long k = -outputs.last(); k <= outputs.last(); ++k) {
    const Rational y = outputs.output(k) - a;
    if (y > -outputs.bound()) {
      pairs.insert(outputs.tails(outputs.output(k), -1, k, outputs.largest_below(y - a)));
    }
  }
  for (long k = 1 - outputs.last(); k <= outputs.last(); ++k) {
    const Rational y = outputs.threshold(k);
    if (abs(y) <= outputs.bound()) {
      pairs.insert(outputs.tails(y, 0, outputs.smallest_above(y + a), outputs.largest_below(y - a)));
    }
  }
  pairs.insert(outputs.tails(outputs.bound(), 0, std::nullopt, outputs.largest_below(outputs.bound() - a)));
  return pairs;
}

/// Every a at which the structure of worst_answers changes, ascending; the last is 2B, where no
/// error is left.
std::vector<Rational> breakpoints(const ClampedOutputs& outputs, const Rational& grid) {
  std::set<Rational> found;
  const Rational farthest = 2 * outputs.bound();
  const auto add = [&](const Rational& a) {
    if (a > 0 && a <= farthest) found.insert(a);
  };
  const long last = outputs.last();
  for (long n = 1; n <= 4 * last; ++n) add(n * grid / 2);
  for (long k = -last; k <= last; ++k) {
    add(outputs.bound() - outputs.output(k));
    add((outputs.bound() - outputs.output(k)) / 2);
    add(outputs.bound() - outputs.threshold(k));
  }
  add(outputs.bound());
  add(farthest);
  return {found.begin(), found.end()};
}

Rational doubled_tail(const Tail& tail, const Rational& lambda, const Rational& a, unsigned bits,
                      mpfr_rnd_t direction) {
  const Rational x = tail.distance(a) / lambda;
  if (x >= 0) return exp_directed(-x, bits, direction);
  return 2 - exp_directed(x, bits, direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU);
}

/// Twice the largest probability over the pairs.
Rational doubled_error(const TailPairs& pairs, const Rational& lambda, const Rational& a, unsigned bits,
                       mpfr_rnd_t direction) {
  Rational largest = 0;
  for (const TailPair& pair : pairs) {
    Rational sum = 0;
    if (pair.above) sum += doubled_tail(*pair.above, lambda, a, bits, direction);
    if (pair.below) sum += doubled_tail(*pair.below, lambda, a, bits, direction);
    largest = std::max(largest, sum);
  }
  return largest;
}

bool error_at_most(const TailPairs& pairs, const Rational& lambda, const Rational& a, const Rational& alpha) {
  for (unsigned bits = kWorkingBits; bits <= kWorkingBitsMax; bits *= 2) {
    if (doubled_error(pairs, lambda, a, bits, MPFR_RNDU) <= 2 * alpha) return true;
    if (doubled_error(pairs, lambda, a, bits, MPFR_RNDD) > 2 * alpha) return false;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

Rational smallest_error_unclamped_up(const SnappingLaw& law, const Rational& alpha) {
  const Rational kappa = law.grid / (2 * law.lambda);
  const Integer h = whole_steps(alpha, kappa);
  const Rational psi = partial_step_up(alpha, kappa, h);
  const Rational a = law.grid / 2 * (h + psi);
  return psi == 0 ? a : rounded_up(a);
}

Rational smallest_error_clamped_up(const SnappingLaw& law, const Rational& alpha) {
  const ClampedOutputs outputs(law);
  const std::vector<Rational> points = breakpoints(outputs, law.grid);
  const auto suffices = [&](const Rational& a) {
    return error_at_most(worst_answers(outputs, a), law.lambda, a, alpha);
  };
  const auto first =
      std::partition_point(points.begin(), points.end(), [&](const Rational& a) { return !suffices(a); });
  EPSILOG_INVARIANT(first != points.end());

  // Strictly between two breakpoints one set of tails holds; it also gives the limit at the right end.
  Rational low = first == points.begin() ? Rational(0) : *std::prev(first);
  Rational high = *first;
  const TailPairs pairs = worst_answers(outputs, (low + high) / 2);
  if (!error_at_most(pairs, law.lambda, high, alpha)) return high;
  for (unsigned step = 0; step < kBisections; ++step) {
    const Rational middle = (low + high) / 2;
    // An undecided middle counts as too small: that only rounds up.
    (doubled_error(pairs, law.lambda, middle, kResultBits, MPFR_RNDU) <= 2 * alpha ? high : low) = middle;
  }
  return high == *first ? high : std::min(rounded_up(high), *first);
}

Rational smallest_error_up(const SnappingLaw& law, const Rational& alpha) {
  const Rational reach = law.grid * 3 / 2 + law.lambda * log_of_inverse_up(alpha, kWorkingBits);
  return law.bound >= reach ? smallest_error_unclamped_up(law, alpha) : smallest_error_clamped_up(law, alpha);
}

}  // namespace epsilog::mechanisms
