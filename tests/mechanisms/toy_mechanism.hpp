// A toy snapping mechanism whose every output probability is known exactly, and the most it can lose.
//
// The probability of an output is the probability that y + s*Z lies between two cuts. The cuts are
// where the shipped rounding, snapping and clamping change their result; they do not depend on y. So
// as a function of y it is a step function that changes only where y plus or minus a magnitude of
// the noise meets a cut, and finitely many pieces stand for every real y.
//
// Positions and probabilities are dyadic numbers held exactly in doubles. The search takes logarithms
// in double, off by less than 1e-12; what a test asserts is the worst pair's value, enclosed by MPFR
// from the exact numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/rational.hpp"
#include "mechanisms/toy_noise.hpp"
#include "snapping_draw.hpp"

namespace epsilog::test {

using accounting::Rational;

struct ToySetting {
  unsigned precision;
  double scale;
  double grid;
  double bound;
};

/// y + s*Z gives output k or a higher one from this cut on, `included` or from just above it.
struct Cut {
  double at;
  bool included;
};

/// The outputs of a setting, numbered -last() .. last(), and the cuts between them.
class ToyOutputs {
 public:
  explicit ToyOutputs(const ToySetting& setting)
      : setting_(setting), last_(static_cast<long>(std::ceil(setting.bound / setting.grid))) {
    for (long k = 1 - last_; k <= last_; ++k) cuts_.push_back(found_cut(k));
  }

  [[nodiscard]] const ToySetting& setting() const { return setting_; }
  [[nodiscard]] long last() const { return last_; }
  [[nodiscard]] bool has_cut(long k) const { return k > -last_ && k <= last_; }
  /// Between output k - 1 and output k.
  [[nodiscard]] const Cut& cut(long k) const { return cuts_[static_cast<std::size_t>(k + last_ - 1)]; }
  /// A multiple of the grid, or an end of the range.
  [[nodiscard]] Rational output(long k) const {
    if (k == last_) return setting_.bound;
    if (k == -last_) return -Rational(setting_.bound);
    return Rational(setting_.grid) * k;
  }
  /// What the shipped code makes of an exact sum.
  [[nodiscard]] Rational shipped(const Rational& sum) const {
    const mechanisms::MpfrNumber nothing(setting_.precision);
    return mechanisms::snapped_and_clamped(mechanisms::sum_rounded(sum, nothing, setting_.precision),
                                           Rational(setting_.grid), Rational(setting_.bound));
  }

 private:
  // Rounding is monotone, so the cut is the midpoint between the lowest p-bit number that snaps to k
  // and the p-bit number below it. The shipped code is asked on both sides, and on the midpoint.
  [[nodiscard]] Cut found_cut(long k) const {
    const double halfway = (static_cast<double>(k) - 0.5) * setting_.grid;
    mechanisms::MpfrNumber below = mechanisms::MpfrNumber::rounded(halfway, setting_.precision, MPFR_RNDN);
    mpfr_nextbelow(below.get());
    const Rational cut = (Rational(halfway) + below.rational()) / 2;
    const Rational hair = accounting::power_of_two(-80);
    if (shipped(cut - hair) != output(k - 1) || shipped(cut + hair) != output(k))
      throw std::logic_error("the shipped rounding cuts elsewhere");
    return {cut.get_d(), shipped(cut) == output(k)};
  }

  ToySetting setting_;
  long last_;
  std::vector<Cut> cuts_;
};

/// P(output k | y). Differences are formed on the side where no digit cancels.
template <typename Noise>
double probability(const ToyOutputs& outputs, const Noise& noise, long k, double y) {
  const auto beyond = [&noise, y](const Cut& cut) {  // P(y + s*Z reaches a cut above y)
    return (cut.included ? noise.at_least(cut.at - y) : noise.more_than(cut.at - y)) / 2;
  };
  const auto short_of = [&noise, y](const Cut& cut) {  // P(y + s*Z misses a cut below y)
    return (cut.included ? noise.more_than(y - cut.at) : noise.at_least(y - cut.at)) / 2;
  };
  const auto above_y = [y](const Cut& cut) { return cut.at > y || (cut.at == y && !cut.included); };
  const Cut* low = outputs.has_cut(k) ? &outputs.cut(k) : nullptr;
  const Cut* high = outputs.has_cut(k + 1) ? &outputs.cut(k + 1) : nullptr;
  if (low != nullptr && above_y(*low)) return beyond(*low) - (high != nullptr ? beyond(*high) : 0);
  if (high != nullptr && !above_y(*high)) return short_of(*high) - (low != nullptr ? short_of(*low) : 0);
  return 1 - (low != nullptr ? short_of(*low) : 0) - (high != nullptr ? beyond(*high) : 0);
}

/// Answers that share one output probability: some set of reals with these ends.
struct Piece {
  double first;
  double last;
  double probability;
};

/// The pair that loses most beyond its distance.
struct Worst {
  double extra = 0;  ///< ln P(o|y) - ln P(o|y') - |y - y'|/lambda; +inf if P(o|y') = 0
  long output = 0;
  Piece y{};
  Piece other{};
  double distance = 0;
};

/// Replaces `worst` by a worse pair of pieces, given in ascending order, if there is one.
inline void compare(const std::vector<Piece>& pieces, double lambda, long output, Worst& worst) {
  double most = -std::numeric_limits<double>::infinity();  // of ln P + y/lambda so far
  double least = std::numeric_limits<double>::infinity();  // of ln P - y/lambda so far
  const Piece* numerator = nullptr;
  const Piece* denominator = nullptr;
  for (const Piece& piece : pieces) {
    const double log = std::log(piece.probability);
    const double rising = log + piece.first / lambda;
    const double falling = log - piece.first / lambda;
    if (numerator != nullptr && most - rising > worst.extra)
      worst = {most - rising, output, *numerator, piece, piece.first - numerator->last};
    if (denominator != nullptr && falling - least > worst.extra)
      worst = {falling - least, output, piece, *denominator, piece.first - denominator->last};
    if (log + piece.last / lambda > most) {
      most = log + piece.last / lambda;
      numerator = &piece;
    }
    if (log - piece.last / lambda < least) {
      least = log - piece.last / lambda;
      denominator = &piece;
    }
  }
}

/// Where the probability of output k may change as y grows, and both ends of the range.
inline std::vector<double> breakpoints(const ToyOutputs& outputs, const NoiseTable& noise, long k) {
  const double bound = outputs.setting().bound;
  std::vector<double> points{-bound, bound};
  for (const long side : {k, k + 1}) {
    if (!outputs.has_cut(side)) continue;
    for (const double z : noise.magnitudes()) {
      for (const double y : {outputs.cut(side).at - z, outputs.cut(side).at + z})
        if (y > -bound && y < bound) points.push_back(y);
    }
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

/// The next number of `bits` bits above x or below it; beside 0 there is none, and 0 stands for it.
inline double representable_below(double x, unsigned bits);
inline double representable_above(double x, unsigned bits) {
  if (x <= 0) return x == 0 ? 0 : -representable_below(-x, bits);
  int e = 0;
  const double scaled = std::ldexp(std::frexp(x, &e), static_cast<int>(bits));
  return std::ldexp(std::floor(scaled) + 1, e - static_cast<int>(bits));
}
inline double representable_below(double x, unsigned bits) {
  if (x <= 0) return x == 0 ? 0 : -representable_above(-x, bits);
  int e = 0;
  const double scaled = std::ldexp(std::frexp(x, &e), static_cast<int>(bits));
  const double down = std::ceil(scaled) - 1;
  if (down < std::ldexp(1.0, static_cast<int>(bits) - 1))  // the binade below has a finer step
    return std::ldexp(std::ldexp(1.0, static_cast<int>(bits)) - 1, e - 1 - static_cast<int>(bits));
  return std::ldexp(down, e - static_cast<int>(bits));
}
inline bool representable(double x, unsigned bits) {
  return x == 0 || representable_above(representable_below(x, bits), bits) == x;
}

enum class Answers {
  any,     ///< every real number
  p_bits,  ///< numbers of p significant bits
};

/// The most any pair of answers in [-B, B] loses beyond its distance, over all outputs.
inline Worst worst_extra(const ToyOutputs& outputs, const NoiseTable& noise, Answers answers) {
  const unsigned p = outputs.setting().precision;
  Worst worst;
  for (long k = -outputs.last(); k <= outputs.last(); ++k) {
    std::vector<Piece> pieces;
    const std::vector<double> points = breakpoints(outputs, noise, k);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (answers == Answers::any || representable(points[i], p))
        pieces.push_back({points[i], points[i], probability(outputs, noise, k, points[i])});
      if (i + 1 == points.size()) break;
      double from = points[i];
      double to = points[i + 1];
      const double inside = from + (to - from) / 2;
      if (answers == Answers::p_bits) {
        from = representable_above(from, p);
        to = representable_below(to, p);
        if (from > to) continue;
      }
      pieces.push_back({from, to, probability(outputs, noise, k, inside)});
    }
    compare(pieces, outputs.setting().scale, k, worst);
  }
  return worst;
}

/// The numbers of `bits` bits in [-B, B] with magnitude at least `least`, ascending.
inline std::vector<double> representable_answers(double bound, unsigned bits, double least) {
  std::vector<double> numbers;
  for (double v = representable(bound, bits) ? bound : representable_below(bound, bits); v >= least;
       v = representable_below(v, bits)) {
    numbers.push_back(v);
    numbers.push_back(-v);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// The most one output loses when y is first rounded to the nearest of `numbers`: all the y between
/// two midpoints share the probability of the number between them. The outermost two only delimit.
template <typename Noise>
void compare_rounded_first(const ToyOutputs& outputs, const Noise& noise, const std::vector<double>& numbers,
                           long output, Worst& worst) {
  std::vector<Piece> pieces;
  for (std::size_t i = 1; i + 1 < numbers.size(); ++i)
    pieces.push_back({(numbers[i - 1] + numbers[i]) / 2, (numbers[i] + numbers[i + 1]) / 2,
                      probability(outputs, noise, output, numbers[i])});
  compare(pieces, outputs.setting().scale, output, worst);
}

/// Numbers between which an irrational one lies.
struct EnclosedExtra {
  Rational low;
  Rational high;
};

/// Encloses ln(p/q) - distance/lambda, the four numbers being exact.
/// Requires  p > 0, q > 0.
inline EnclosedExtra certified_extra(double p, double q, double distance, double lambda) {
  const Rational away = Rational(distance) / Rational(lambda);
  const Rational ratio = Rational(p) / Rational(q);
  const auto log = [&ratio](mpfr_rnd_t direction) {
    mechanisms::MpfrNumber value = mechanisms::MpfrNumber::rounded(ratio, 200, direction);
    mpfr_log(value.get(), value.get(), direction);
    return value.rational();
  };
  return {log(MPFR_RNDD) - away, log(MPFR_RNDU) - away};
}
inline EnclosedExtra certified_extra(const Worst& worst, double lambda) {
  return certified_extra(worst.y.probability, worst.other.probability, worst.distance, lambda);
}

}  // namespace epsilog::test
