#include "composed_below.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "loss_spectrum.hpp"
#include "tilted_loss.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 128;
/// Cells up to the largest loss of Laplace noise, fewer of many uses.
constexpr double kCellsMax = 200;
constexpr double kCellsMin = 5;
constexpr double kCellsTotal = 0x1p13;
constexpr double kCellsOfLawMax = 0x1p18;
constexpr unsigned kGaussianBits = 64;
/// Standard deviations of the tilted loss that are kept on each side.
constexpr double kReach = 9;
/// A sum with no more points than this is kept as a whole.
constexpr double kSupportMax = 0x1p17;
constexpr std::size_t kPeriodMin = 16;
constexpr std::size_t kPeriodMax = std::size_t{1} << 21;
/// ln of what may be cut off, relative to delta.
constexpr double kTailLog = 30;

struct OwnGrid {
  Rational step;
  GridLaw law;
};

/// The law from below on a grid that suits it.
std::optional<OwnGrid> law_on_own_grid(const Schedule::Entry& entry, double log_delta) {
  const PrivacyProfile& profile = entry.profile;
  const double reach = std::sqrt(2 * (kTailLog - log_delta));
  std::optional<OwnGrid> result;
  if (profile.largest_loss() == Rational(0)) {
    // Nothing but what is lost outright.
    const Enclosure lost(profile.infinite_mass(), kBits);
    const Enclosure kept = Enclosure(1UL, kBits) - lost;
    GridLaw law;
    law.mass = {mpfr_get_d(kept.low().get(), MPFR_RNDD)};
    law.infinite = mpfr_get_d(lost.low().get(), MPFR_RNDD);
    result = {1, std::move(law)};
  } else if (const auto lattice = profile.lattice()) {
    const double mu = std::sqrt(profile.variance_estimate());
    const auto largest = profile.largest_loss();
    const double last =
        std::ceil((largest ? largest->get_d() : mu * reach + mu * mu / 2) / lattice->get_d() * (1 - 0x1p-40));
    if (!(last <= kCellsOfLawMax)) return std::nullopt;
    const auto points = std::max<std::size_t>(1, static_cast<std::size_t>(last));
    result = {*lattice, dots_connected(profile, *lattice, points, Side::down)};
  } else if (const auto largest = profile.largest_loss()) {
    const double cells =
        std::clamp(kCellsTotal / std::sqrt(static_cast<double>(entry.count)), kCellsMin, kCellsMax);
    const Rational step = *largest / Rational(std::ceil(cells));
    if (auto law = dots_below(profile, step, static_cast<std::size_t>(std::ceil(cells)))) {
      result = {step, std::move(*law)};
    }
  }
  if (result) result->law.count = entry.count;
  return result;
}

/// P(tilted sum >= index steps) for a `further` tilt above `tilt`, P(<=) for one below it: Chernoff's bound.
MpfrNumber beyond_up(const OwnGrid& own, const MpfrNumber& divisor, double tilt, double further,
                     const Integer& index) {
  const Rational difference = Rational(further) - Rational(tilt);
  MpfrNumber power(kBits);
  mpfr_div(power.get(), moment_up(own.law, own.step, further).get(), divisor.get(), MPFR_RNDU);
  mpfr_pow_ui(power.get(), power.get(), own.law.count, MPFR_RNDU);
  const Enclosure untilted = exp(Enclosure(Rational(-difference * own.step * index), kBits));
  mpfr_mul(power.get(), power.get(), untilted.high().get(), MPFR_RNDU);
  return power;
}

/// P(tilted sum < first steps or >= after steps), by the best of a few tilts.
double outside_up(const OwnGrid& own, const MpfrNumber& divisor, double tilt, double spread,
                  const Integer& first, const Integer& after) {
  double below = 1;
  double above = 1;
  for (const double deviations : {2.0, 5.0, 10.0}) {
    const double further = deviations / spread;
    above =
        std::fmin(above, mpfr_get_d(beyond_up(own, divisor, tilt, tilt + further, after).get(), MPFR_RNDU));
    below = std::fmin(below,
                      mpfr_get_d(beyond_up(own, divisor, tilt, tilt - further, first - 1).get(), MPFR_RNDU));
  }
  return (below + above) * (1 + 0x1p-50);
}

/// 1 - (1 - infinite)^count.
double infinite_down(const GridLaw& law) {
  MpfrNumber finite = MpfrNumber::rounded(1 - Rational(law.infinite), kBits, MPFR_RNDU);
  mpfr_pow_ui(finite.get(), finite.get(), law.count, MPFR_RNDU);
  mpfr_ui_sub(finite.get(), 1, finite.get(), MPFR_RNDD);
  return std::fmax(0, mpfr_get_d(finite.get(), MPFR_RNDD));
}

/// All uses of the law as one: masses near those that the tilt makes likely, the others left out.
GridLaw law_of_all_uses(const OwnGrid& own, double tilt) {
  if (own.law.count == 1) return own.law;
  const double step = own.step.get_d();
  const Cumulants at = cumulants({own.law}, step, tilt);
  const double cells = kReach * std::fmax(1, std::sqrt(at.variance) / step);
  const double support =
      static_cast<double>(own.law.count) * static_cast<double>(own.law.mass.size() - 1) + 1;
  const bool whole = support <= kSupportMax;
  GridLaw result;
  if (!whole && !(2 * cells < static_cast<double>(kPeriodMax))) return result;
  const auto wanted = static_cast<std::size_t>(whole ? support : 2 * cells);
  const std::size_t period = std::bit_ceil(std::max({kPeriodMin, own.law.mass.size(), wanted}));
  const UnitRoots roots(period);
  const MpfrNumber divisor = moment_up(own.law, own.step, tilt);
  const LossSpectrum spectrum(
      roots, {{tilted(own.law, own.step, tilt, divisor, Side::down), own.law.lowest, 1, own.law.count}});
  std::vector<double> masses = spectrum.masses_down();

  // A period that is too short for all, is one around the mean; what lies beyond may lie upon any of its
  // masses.
  const Integer uses = Integer(static_cast<unsigned long>(own.law.count));
  const Integer first =
      whole ? Integer(uses * Integer(static_cast<long>(own.law.lowest)))
            : Integer(floor(Rational(at.mean / step)) - Integer(static_cast<unsigned long>(period / 2)));
  const double images = whole ? 0
                              : outside_up(own, divisor, tilt, std::sqrt(at.variance), first,
                                           first + Integer(static_cast<unsigned long>(period)));

  // In order, and without the tilt.
  const auto offset = static_cast<std::size_t>(mpz_fdiv_ui(first.get_mpz_t(), period));
  std::rotate(masses.begin(), masses.begin() + static_cast<std::ptrdiff_t>(offset), masses.end());
  const auto matters = [images](double mass) { return mass * (1 - 0x1p-50) > images; };
  const auto begin = std::find_if(masses.begin(), masses.end(), matters);
  const auto end = std::find_if(masses.rbegin(), std::make_reverse_iterator(begin), matters).base();
  const Integer lowest = first + Integer(static_cast<long>(begin - masses.begin()));
  result.lowest = lowest.get_si();
  result.infinite = infinite_down(own.law);
  const Rational rate = own.step * Rational(tilt);
  const MpfrNumber shrink = exp(Enclosure(Rational(-rate), kBits)).low();
  MpfrNumber weight = exp(Enclosure(Rational(-rate * lowest), kBits)).low();
  MpfrNumber term(kBits);
  mpfr_pow_ui(term.get(), divisor.get(), own.law.count, MPFR_RNDD);
  mpfr_mul(weight.get(), weight.get(), term.get(), MPFR_RNDD);
  for (auto mass = begin; mass != end; ++mass) {
    const double kept = std::fmax(0, (*mass - images) * (1 - 0x1p-50));
    mpfr_mul_d(term.get(), weight.get(), kept, MPFR_RNDD);
    result.mass.push_back(mpfr_get_d(term.get(), MPFR_RNDD));
    mpfr_mul(weight.get(), weight.get(), shrink.get(), MPFR_RNDD);
  }
  return result;
}

/// Each loss lowered to the next multiple of the other step: Q rises, P stays.
GridLaw lowered(const GridLaw& law, const Rational& from, const Rational& to) {
  GridLaw result;
  result.infinite = law.infinite;
  if (law.mass.empty()) return result;
  const Rational ratio = from / to;
  const auto index = [&](std::size_t i) {
    const Rational at = ratio * Rational(Integer(static_cast<long>(law.lowest) + static_cast<long>(i)));
    return floor(at).get_si();
  };
  result.lowest = index(0);
  result.mass.assign(static_cast<std::size_t>(index(law.mass.size() - 1) - result.lowest) + 1, 0.0);
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    if (law.mass[i] > 0) result.mass[static_cast<std::size_t>(index(i) - result.lowest)] += law.mass[i];
  }
  // Sums of n doubles are within n units of 2^-52 of themselves.
  const double less = 1 - static_cast<double>(law.mass.size() + 2) * 0x1p-52;
  for (double& mass : result.mass) mass = mass > 0x1p-1000 ? mass * less : 0;
  return result;
}

/// A Gaussian loss, normal of mean mu^2/2 and variance mu^2, each lowered to the next multiple of the step.
std::optional<OwnGrid> gaussian_lowered(const PrivacyProfile& profile, const Rational& step, double tilt) {
  GridLaw law;
  const double mu = std::sqrt(profile.mu_squared().get_d());
  const double cells = kReach * mu / step.get_d();
  if (!(cells < kCellsOfLawMax)) return std::nullopt;
  law.lowest = static_cast<std::int64_t>(std::floor(mu * mu * (tilt + 0.5) / step.get_d() - cells));
  const Enclosure scale = sqrt(Enclosure(Rational(profile.mu_squared() * 2), kGaussianBits));
  // Twice the probability beyond a point.
  const auto tail = [&](std::int64_t index) {
    const Rational from = step * Rational(Integer(static_cast<long>(index))) - profile.mu_squared() / 2;
    const Enclosure at = Enclosure(from, kGaussianBits) / scale;
    MpfrNumber low(kGaussianBits);
    MpfrNumber high(kGaussianBits);
    mpfr_erfc(low.get(), at.high().get(), MPFR_RNDD);
    mpfr_erfc(high.get(), at.low().get(), MPFR_RNDU);
    return Enclosure(std::move(low), std::move(high));
  };
  Enclosure before = tail(law.lowest);
  for (std::int64_t i = 1; i <= static_cast<std::int64_t>(2 * cells) + 1; ++i) {
    Enclosure after = tail(law.lowest + i);
    law.mass.push_back(std::fmax(0, mpfr_get_d((before - after).low().get(), MPFR_RNDD)) / 2);
    before = std::move(after);
  }
  return OwnGrid{step, std::move(law)};
}

}  // namespace

std::vector<GridLaw> composed_below(const Schedule& schedule, const Rational& step, double tilt,
                                    double log_delta) {
  std::vector<GridLaw> result;
  for (const Schedule::Entry& entry : schedule.entries) {
    const bool gaussian = entry.profile.shape() == PrivacyProfile::Shape::gaussian;
    // The only law whose losses are lowered twice has steps that are whole ones of the grid.
    const std::optional<OwnGrid> own =
        gaussian ? gaussian_lowered(
                       entry.profile,
                       step * Rational(Integer(static_cast<unsigned long>(schedule.entries.size()))), tilt)
                 : law_on_own_grid(entry, log_delta);
    if (!own) continue;
    GridLaw law = lowered(law_of_all_uses(*own, tilt), own->step, step);
    if (law.mass.empty()) continue;
    result.push_back(std::move(law));
  }
  return result;
}

}  // namespace epsilog::accounting
