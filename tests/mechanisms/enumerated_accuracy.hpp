// The worst error of the clamped mechanism the long way: every threshold, output and one-sided limit.
//
// An independent method to hold the closed forms of snapping_accuracy.cpp against. It knows nothing but
// where the outputs and the thresholds between them lie; its cost grows with B / Lambda.
// Rounds   Quantiles up, by bisection between breakpoints.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "directed_functions.hpp"
#include "snapping_accuracy.hpp"

namespace epsilog::test {

using mechanisms::exp_directed;
using mechanisms::MpfrNumber;
using mechanisms::Rational;
using mechanisms::SnappingLaw;

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
inline TailPairs worst_answers(const ClampedOutputs& outputs, const Rational& a) {
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
inline std::vector<Rational> breakpoints(const ClampedOutputs& outputs, const Rational& grid) {
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

inline Rational doubled_tail(const Tail& tail, const Rational& lambda, const Rational& a, unsigned bits,
                             mpfr_rnd_t direction) {
  const Rational x = tail.distance(a) / lambda;
  if (x >= 0) return exp_directed(-x, bits, direction);
  return 2 - exp_directed(x, bits, direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU);
}

/// Twice the largest probability over the pairs.
inline Rational doubled_error(const TailPairs& pairs, const Rational& lambda, const Rational& a,
                              unsigned bits, mpfr_rnd_t direction) {
  Rational largest = 0;
  for (const TailPair& pair : pairs) {
    Rational sum = 0;
    if (pair.above) sum += doubled_tail(*pair.above, lambda, a, bits, direction);
    if (pair.below) sum += doubled_tail(*pair.below, lambda, a, bits, direction);
    largest = std::max(largest, sum);
  }
  return largest;
}

inline bool error_at_most(const TailPairs& pairs, const Rational& lambda, const Rational& a,
                          const Rational& alpha) {
  for (unsigned bits = 256; bits <= 65536; bits *= 2) {
    if (doubled_error(pairs, lambda, a, bits, MPFR_RNDU) <= 2 * alpha) return true;
    if (doubled_error(pairs, lambda, a, bits, MPFR_RNDD) > 2 * alpha) return false;
  }
  return false;
}

/// The smallest a with P(|M - y| > a) <= alpha for every y in [-B, B], by search over every breakpoint.
inline Rational enumerated_smallest_error_up(const SnappingLaw& law, const Rational& alpha) {
  const ClampedOutputs outputs(law);
  const std::vector<Rational> points = breakpoints(outputs, law.grid);
  const auto suffices = [&](const Rational& a) {
    return error_at_most(worst_answers(outputs, a), law.scale, a, alpha);
  };
  const auto first =
      std::partition_point(points.begin(), points.end(), [&](const Rational& a) { return !suffices(a); });

  // Strictly between two breakpoints one set of tails holds; it also gives the limit at the right end.
  Rational low = first == points.begin() ? Rational(0) : *std::prev(first);
  Rational high = *first;
  const TailPairs pairs = worst_answers(outputs, (low + high) / 2);
  if (!error_at_most(pairs, law.scale, high, alpha)) return high;
  for (unsigned step = 0; step < 96; ++step) {
    const Rational middle = (low + high) / 2;
    // An undecided middle counts as too small: that only rounds up.
    (doubled_error(pairs, law.scale, middle, 128, MPFR_RNDU) <= 2 * alpha ? high : low) = middle;
  }
  return high == *first ? high : std::min(MpfrNumber::rounded(high, 128, MPFR_RNDU).rational(), *first);
}

}  // namespace epsilog::test
