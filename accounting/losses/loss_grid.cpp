#include "loss_grid.hpp"

#include <algorithm>
#include <cmath>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kWeightBits = 96;
/// Attempts at a smaller sensitivity, each giving up twice as much; the first a thousandth of (step/loss)^2.
constexpr int kAttemptsMax = 16;

unsigned grid_bits(const Rational& step) {
  // Masses are second differences of the profile: they lose two bits for each bit by which the step is small.
  const double small = std::fmax(0, -std::log2(step.get_d()));
  return 160 + 3 * static_cast<unsigned>(small);
}

double down_to_double(const Enclosure& value) {
  return std::fmax(0, mpfr_get_d(value.low().get(), MPFR_RNDD));
}

double up_to_double(const Enclosure& value) {
  return std::fmax(0, mpfr_get_d(value.high().get(), MPFR_RNDU));
}

/// Masses at 0, step, ... of the law with the profile values f at these points.
std::vector<Enclosure> upper_masses(const std::vector<Enclosure>& f, const Enclosure& growth) {
  const unsigned bits = growth.bits();
  const Enclosure one(1UL, bits);
  const Enclosure spread = growth - one;
  std::vector<Enclosure> masses;
  masses.reserve(f.size());
  masses.push_back(one - f[0] + (f[1] - f[0]) * 2UL / spread);
  for (std::size_t i = 1; i < f.size(); ++i) {
    const Enclosure rise = i + 1 < f.size() ? f[i + 1] - f[i] : Enclosure(0UL, bits);
    masses.push_back((rise - growth * (f[i] - f[i - 1])) / spread);
  }
  return masses;
}

/// Does the line through (x0, y0) and (x1, y1), x = e^epsilon, lie below the profile between x0 and x1? It
/// does if both ends are below one tangent. Tried are the tangents at the ends and in the middle of the cell.
bool chord_below(const PrivacyProfile& profile, const Rational& left, const Rational& step,
                 const Enclosure& y0, const Enclosure& y1, unsigned bits) {
  for (const int halves : {1, 2, 0}) {
    const Rational at = left + step * halves / 2;
    if (const auto largest = profile.largest_loss(); largest && at > *largest) continue;
    const Enclosure slope = profile.slope(at, bits);
    const Enclosure value = profile.delta(at, bits);
    const Enclosure x = exp(Enclosure(at, bits));
    const auto below = [&](const Rational& end, const Enclosure& y) {
      // Where the tangent touches there is nothing to round, and at a largest loss nothing to spare.
      const Enclosure margin = end == at ? value - y : value + slope * (exp(Enclosure(end, bits)) - x) - y;
      return mpfr_sgn(margin.low().get()) >= 0;
    };
    if (below(left, y0) && below(left + step, y1)) return true;
  }
  return false;
}

/// Are the values f, joined by lines and lowered by the last of them, nowhere above the profile?
bool verified_below(const PrivacyProfile& profile, const Rational& step, const std::vector<Enclosure>& f,
                    unsigned bits) {
  const Enclosure infinite(profile.infinite_mass(), bits);
  const Enclosure lowered = f.back() - infinite;
  for (std::size_t i = 0; i + 1 < f.size(); ++i) {
    const Rational left = step * static_cast<unsigned long>(i);
    if (!chord_below(profile, left, step, f[i] - lowered, f[i + 1] - lowered, bits)) return false;
  }
  return true;
}

Rational spacing(const GridLaw& law, const Rational& step) {
  return step * static_cast<unsigned long>(law.stride);
}

/// e^(rate * index), rounded outward.
Enclosure power(const Rational& rate, std::int64_t index) {
  return exp(Enclosure(Rational(rate * static_cast<long>(index)), kWeightBits));
}

}  // namespace

GridLaw dots_connected(const PrivacyProfile& profile, const Rational& step, std::size_t last, Side side) {
  EPSILOG_INVARIANT(last >= 1);
  const unsigned bits = grid_bits(step);
  const std::vector<Enclosure> f = profile.deltas(step, last, bits);
  const Enclosure growth = exp(Enclosure(step, bits));
  const std::vector<Enclosure> upper = upper_masses(f, growth);
  const Enclosure shrink = Enclosure(1UL, bits) / growth;
  const auto rounded = side == Side::up ? up_to_double : down_to_double;

  GridLaw law;
  law.lowest = -static_cast<std::int64_t>(last);
  law.mass.assign(2 * last + 1, 0.0);
  Enclosure weight(1UL, bits);
  for (std::size_t i = 0; i <= last; ++i) {
    law.mass[last + i] = rounded(upper[i]);
    law.mass[last - i] = rounded(upper[i] * weight);  // symmetry: the mass at -l is e^-l times that at l
    weight *= shrink;
  }
  // What lies beyond the last point is at infinity above, and is left out below unless it truly is there.
  law.infinite = rounded(side == Side::up ? f.back() : Enclosure(profile.infinite_mass(), bits));
  return law;
}

std::optional<GridLaw> dots_below(const PrivacyProfile& profile, const Rational& step, std::size_t last) {
  const unsigned bits = grid_bits(step);
  const double cells = profile.largest_loss() ? Rational(*profile.largest_loss() / step).get_d()
                                              : std::sqrt(profile.variance_estimate()) / step.get_d();
  Rational given_up(std::fmin(0.5, 1e-3 / (cells * cells)));
  // A bounded loss that is no multiple of the step is first brought down to one.
  Rational base = 1;
  std::size_t points = last;
  if (const auto largest = profile.largest_loss()) {
    const Integer whole = floor(*largest / step);
    if (whole < 1) return std::nullopt;
    base = whole * step / *largest;
    points = whole.get_ui();
    if (base == 1 && profile.shape() == PrivacyProfile::Shape::response) {
      return dots_connected(profile, step, points, Side::down);
    }
  }
  if (profile.shape() == PrivacyProfile::Shape::response) {
    // The losses of a response with less epsilon are multiples of the step.
    return dots_connected(profile.weakened(base), step, points, Side::down);
  }
  const PrivacyProfile reachable = profile.weakened(base);
  for (int attempt = 0; attempt < kAttemptsMax && given_up < 1; ++attempt, given_up *= 2) {
    const PrivacyProfile weaker = reachable.weakened(1 - given_up);
    if (verified_below(reachable, step, weaker.deltas(step, points, bits), bits)) {
      return dots_connected(weaker, step, points, Side::down);
    }
  }
  return std::nullopt;
}

GridLaw convolved(const GridLaw& a, const GridLaw& b, Side side) {
  EPSILOG_INVARIANT(a.count == 1 && b.count == 1 && a.stride == 1 && b.stride == 1);
  GridLaw sum;
  sum.lowest = a.lowest + b.lowest;
  sum.mass.assign(a.mass.size() + b.mass.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.mass.size(); ++i) {
    const double factor = a.mass[i];
    double* const out = sum.mass.data() + i;
    stop_if_requested();
    for (std::size_t j = 0; j < b.mass.size(); ++j) out[j] += factor * b.mass[j];
  }
  // Sums of n products of non-negative doubles are within 2 (n + 1) units of 2^-52 of themselves, or, for
  // products below the normal range, within n of 2^-1074.
  const double terms = static_cast<double>(std::min(a.mass.size(), b.mass.size())) + 4;
  const double slack = terms * 0x1p-51;
  const double least = terms * 0x1p-1074;
  for (double& mass : sum.mass) {
    mass = side == Side::up ? (mass + least) * (1 + slack) : std::fmax(0, (mass - least) * (1 - slack));
  }
  const Enclosure one(1UL, kWeightBits);
  const auto finite = [&](const GridLaw& law) {
    return one - Enclosure(Rational(law.infinite), kWeightBits);
  };
  const Enclosure infinite = one - finite(a) * finite(b);
  sum.infinite = side == Side::up ? up_to_double(infinite) : down_to_double(infinite);
  return sum;
}

MpfrNumber moment_up(const GridLaw& law, const Rational& step, double tilt) {
  stop_if_requested();
  const Rational rate = spacing(law, step) * Rational(tilt);
  const Enclosure growth = power(rate, 1);
  MpfrNumber weight = power(rate, law.lowest).high();
  MpfrNumber sum(kWeightBits);
  MpfrNumber term(kWeightBits);
  for (const double mass : law.mass) {
    mpfr_mul_d(term.get(), weight.get(), mass, MPFR_RNDU);
    mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDU);
    mpfr_mul(weight.get(), weight.get(), growth.high().get(), MPFR_RNDU);
  }
  return sum;
}

std::vector<double> tilted(const GridLaw& law, const Rational& step, double tilt, const MpfrNumber& divisor,
                           Side side) {
  const mpfr_rnd_t direction = side == Side::up ? MPFR_RNDU : MPFR_RNDD;
  const Rational rate = spacing(law, step) * Rational(tilt);
  const Enclosure growth_bounds = power(rate, 1);
  const Enclosure start = power(rate, law.lowest);
  const MpfrNumber& growth = side == Side::up ? growth_bounds.high() : growth_bounds.low();
  MpfrNumber weight = side == Side::up ? start.high() : start.low();
  mpfr_div(weight.get(), weight.get(), divisor.get(), direction);
  std::vector<double> result;
  result.reserve(law.mass.size());
  MpfrNumber term(kWeightBits);
  for (const double mass : law.mass) {
    mpfr_mul_d(term.get(), weight.get(), mass, direction);
    result.push_back(mpfr_get_d(term.get(), direction));
    mpfr_mul(weight.get(), weight.get(), growth.get(), direction);
  }
  return result;
}

}  // namespace epsilog::accounting
