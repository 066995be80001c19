#include "epsilog/accounting/privacy_loss_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "composed_below.hpp"
#include "enough_search.hpp"
#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/errors.hpp"
#include "schedule.hpp"
#include "tilted_loss.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kStartBits = 192;
/// Cells to the standard deviation of one loss: enough for 0.1 % in epsilon, more while they are cheap. Where
/// the losses that matter end on the grid, half as many do.
constexpr double kCellsMin = 10;
constexpr double kCellsMinAnchored = 5;
constexpr double kCellsMax = 200;
/// To that of the Gaussian law itself, where the grid of the others has more: its variance grows by less than
/// 2^-15 of itself.
constexpr double kCellsOfWideGaussian = 100;
constexpr double kCellsTotal = 0x1p17;
/// Of all different laws together.
constexpr double kCellsOfLaws = 10'000;
/// Cells of one side of one law.
constexpr unsigned long kCellsOfLawMax = 4096;
/// Laws used once are convolved directly until they are this long.
constexpr std::size_t kConvolvedMax = 768;
/// Of epsilon, what may be due to the grid before a finer one is taken; of more than kUsesMany uses more.
constexpr double kShareOfFew = 2e-4;
constexpr double kShareOfMany = 7e-4;
constexpr double kUsesMany = 150'000;
constexpr int kRefinementsMax = 2;
/// The finest grid: cells of one side of one law, and to the standard deviation of the sum.
constexpr double kCellsOfLawFinest = 16'384;
constexpr double kCellsFinest = 100'000;
/// How far from the centre, in standard deviations, a tilt serves, and how often another is tried.
constexpr double kSpreadsMax = 2;
constexpr int kTiltsMax = 2;
/// Kinds of laws that are brought down to one grid, and what part of epsilon its steps may cost them
/// together.
constexpr std::size_t kGroupsMax = 64;
constexpr double kShareOfGroups = 2e-4;
/// ln of what an unbounded law may lose to infinity, relative to delta.
constexpr double kTailLog = 42;
constexpr unsigned kLatticeBitsMax = 4096;
constexpr double kLogDeltaMin = -700;

struct Deviation {
  double variance = 0;
  double uses = 0;
};

Deviation deviation(const Schedule& schedule) {
  Deviation result;
  for (const Schedule::Entry& entry : schedule.entries) {
    result.variance += static_cast<double>(entry.count) * entry.profile.variance_estimate();
    result.uses += static_cast<double>(entry.count);
  }
  return result;
}

Rational common_divisor(const Rational& a, const Rational& b) {
  if (a == 0) return b;
  return Rational(gcd(Integer(a.get_num() * b.get_den()), Integer(b.get_num() * a.get_den())),
                  Integer(a.get_den() * b.get_den()));
}

/// The step of which every loss of every law is a multiple, if it is not too fine to work with.
std::optional<Rational> common_lattice(const Schedule& schedule, double sigma) {
  Rational step = 0;
  for (const Schedule::Entry& entry : schedule.entries) {
    if (entry.profile.largest_loss() == Rational(0)) continue;
    const auto lattice = entry.profile.lattice();
    if (!lattice) return std::nullopt;
    step = common_divisor(step, *lattice);
    step.canonicalize();
    if (size_in_bits(step) > kLatticeBitsMax) return std::nullopt;
  }
  if (step == 0) return Rational(1);
  if (step.get_d() * 20'000 < sigma) return std::nullopt;
  for (const Schedule::Entry& entry : schedule.entries) {
    const auto largest = entry.profile.largest_loss();
    const Rational reach = largest ? *largest : Rational(12 * std::sqrt(entry.profile.variance_estimate()));
    if (reach > step * kCellsOfLawMax) return std::nullopt;
  }
  return step;
}

struct Grid {
  Rational step;
  bool exact;  ///< every loss is on it
};

std::optional<Grid> chosen_grid(const Schedule& schedule) {
  const Deviation total = deviation(schedule);
  if (const auto step = common_lattice(schedule, std::sqrt(total.variance))) return Grid{*step, true};
  const bool anchored = schedule.entries.size() == 1 && schedule.entries[0].profile.largest_loss();
  const double least = anchored ? kCellsMinAnchored : kCellsMin;
  const double most = std::fmin(kCellsMax, kCellsOfLaws / static_cast<double>(schedule.entries.size()));
  const double cells = std::clamp(kCellsTotal / (20 * std::sqrt(total.uses)), least, std::fmax(least, most));
  double step = std::sqrt(total.variance / total.uses) / cells;
  std::optional<Rational> anchor;
  double weight = 0;
  for (const Schedule::Entry& entry : schedule.entries) {
    const auto largest = entry.profile.largest_loss();
    if (!largest || *largest == 0) continue;
    step = std::fmax(step, largest->get_d() / kCellsOfLawMax);
    const double share = static_cast<double>(entry.count) * entry.profile.variance_estimate();
    if (share >= weight) anchor = largest;
    weight = std::fmax(weight, share);
  }
  if (!(step > 1e-120 && step < 1e3)) return std::nullopt;
  if (!anchor || *anchor < Rational(step)) return Grid{Rational(step), false};
  // The law that matters most has its largest loss on the grid.
  return Grid{*anchor / ceil(*anchor / Rational(step)), false};
}

/// Points of the profile to join: up to its largest loss or to where delta is e^log_delta of nothing.
std::size_t last_point(const PrivacyProfile& profile, const Rational& step, double log_delta) {
  if (const auto largest = profile.largest_loss()) {
    return std::max(1UL, ceil(*largest / step).get_ui());
  }
  const double mu = std::sqrt(profile.variance_estimate());
  const double reach = mu * std::sqrt(2 * (kTailLog - log_delta)) + mu * mu / 2;
  return static_cast<std::size_t>(std::fmin(reach / step.get_d(), 16.0 * kCellsOfLawMax)) + 2;
}

/// Gaussian laws are one, wide on a grid that is chosen for many small losses of others: it has every so
/// many-th point of it.
std::uint64_t stride_of(const Schedule::Entry& entry, const Rational& step) {
  if (entry.profile.shape() != PrivacyProfile::Shape::gaussian) return 1;
  const double cells = std::sqrt(entry.profile.variance_estimate()) / step.get_d();
  return static_cast<std::uint64_t>(std::fmax(1, cells / kCellsOfWideGaussian));
}

std::vector<GridLaw> gridded(const Schedule& schedule, const Grid& grid, double log_delta, Side side) {
  std::vector<GridLaw> result;
  std::optional<GridLaw> once;
  for (const Schedule::Entry& entry : schedule.entries) {
    const std::uint64_t stride = stride_of(entry, grid.step);
    const Rational step = grid.step * static_cast<unsigned long>(stride);
    const std::size_t last = last_point(entry.profile, step, log_delta);
    std::optional<GridLaw> law;
    if (side == Side::up || grid.exact) {
      law = dots_connected(entry.profile, step, last, side);
    } else if (entry.profile.shape() <= PrivacyProfile::Shape::response) {
      law = dots_below(entry.profile, step, last);
      if (!law) continue;  // a lower bound may leave a law out
    } else {
      continue;
    }
    law->count = entry.count;
    law->stride = stride;
    if (entry.count > 1 || stride > 1 || law->mass.size() > kConvolvedMax / 2) {
      result.push_back(std::move(*law));
    } else if (once && once->mass.size() + law->mass.size() <= kConvolvedMax) {
      once = convolved(*once, *law, side);
    } else {
      if (once) result.push_back(std::move(*once));
      once = std::move(law);
    }
  }
  if (once) result.push_back(std::move(*once));
  return result;
}

/// A law whose profile is known outright: used once and alone.
const PrivacyProfile* closed_form(const Schedule& schedule) {
  if (schedule.entries.size() != 1 || schedule.entries[0].count != 1) return nullptr;
  return &schedule.entries[0].profile;
}

unsigned bits_max(const Rational& a, const Rational& b) {
  return kRefinementMax + size_in_bits(a) + size_in_bits(b);
}

/// Deltas are certain to be below it; a number that says where to look.
double log_delta_guess(const Schedule& schedule, double epsilon) {
  const double variance = deviation(schedule).variance;
  const double beyond = std::fmax(0, epsilon - variance / 2);
  return std::fmax(kLogDeltaMin, -beyond * beyond / (2 * variance) - 20);
}

Rational sum_with(const Rational& finite, const Rational& infinite) {
  return std::min(Rational(1), Rational(finite + infinite));
}

/// Without any grid: every delta is at most the sum of the total variation distances.
Rational delta_by_total_variation(const Schedule& schedule) {
  Rational sum = 0;
  for (const Schedule::Entry& entry : schedule.entries) {
    // A tiny loss has its whole delta in the digits after a 1.
    const unsigned bits = kStartBits + std::min(kRefinementMax, size_in_bits(entry.profile.mu_squared()));
    sum += Integer(static_cast<unsigned long>(entry.count)) * entry.profile.delta(0, bits).high().rational();
    if (sum >= 1) return 1;
  }
  return sum;
}

Rational closed_delta(const PrivacyProfile& profile, const Rational& epsilon, Side side) {
  if (const auto largest = profile.largest_loss(); largest && epsilon >= *largest) {
    return profile.infinite_mass();
  }
  const auto enclosed = [&](unsigned bits) { return profile.delta(epsilon, bits); };
  const Rational up = narrow_up(enclosed, kStartBits, bits_max(epsilon, profile.mu_squared()));
  if (side == Side::up) return std::min(up, Rational(1));
  // Below by as much as the upper bound can be above.
  if (up <= power_of_two(kSmallestExponent)) return 0;
  return up * (1 - power_of_two(1 - static_cast<long>(kResultErrorBits)));
}

/// The composed loss, tilted for the question.
std::optional<TiltedLoss> composed_loss(const Schedule& schedule, const Grid& grid, Side side,
                                        double log_delta, std::optional<double> epsilon) {
  std::vector<GridLaw> laws = gridded(schedule, grid, log_delta, side);
  if (laws.empty()) return std::nullopt;
  const double step = grid.step.get_d();
  const double tilt =
      epsilon ? tilt_for_epsilon(laws, step, *epsilon) : tilt_for_log_delta(laws, step, log_delta);
  if (!std::isfinite(tilt) || !(tilt > 0)) return std::nullopt;
  return TiltedLoss(std::move(laws), grid.step, tilt, side);
}

/// Is the lower bound that of groups? Of one law that can be shrunk, or of losses that are all on the grid,
/// it is not, nor of so many kinds of laws that to lower each by a step would cost more than to shrink each.
bool in_groups(const Schedule& schedule, const Grid& grid) {
  if (grid.exact || schedule.entries.size() > kGroupsMax) return false;
  return schedule.entries.size() > 1 || schedule.entries[0].profile.shape() > PrivacyProfile::Shape::response;
}

/// The schedule from below near an epsilon, to which the tilt leads.
std::optional<TiltedLoss> groups_below(const Schedule& schedule, double epsilon, double tilt,
                                       double log_delta) {
  const double spread = std::sqrt(deviation(schedule).variance);
  const double entries = static_cast<double>(schedule.entries.size());
  const double step =
      std::fmax(kShareOfGroups * std::fmax(epsilon, spread / 8) / entries, spread / kCellsFinest);
  if (!(step > 1e-120 && step < 1e3)) return std::nullopt;
  std::vector<GridLaw> laws = composed_below(schedule, Rational(step), tilt, log_delta);
  if (laws.empty()) return std::nullopt;
  return TiltedLoss(std::move(laws), Rational(step), tilt, Side::down);
}

Rational schedule_delta(const Schedule& schedule, const Rational& epsilon, Side side) {
  if (schedule.entries.empty()) return 0;
  const Rational& infinite = side == Side::up ? schedule.infinite_up : schedule.infinite_down;
  if (schedule.largest_loss && epsilon >= *schedule.largest_loss) return infinite;
  if (const PrivacyProfile* profile = closed_form(schedule)) return closed_delta(*profile, epsilon, side);

  const Rational nothing_known = side == Side::up ? delta_by_total_variation(schedule) : infinite;
  const std::optional<Grid> grid = chosen_grid(schedule);
  if (!grid) return nothing_known;
  const double where = epsilon.get_d();
  const double log_delta = log_delta_guess(schedule, where);
  const bool groups = side == Side::down && in_groups(schedule, *grid);
  std::optional<TiltedLoss> loss = composed_loss(schedule, *grid, groups ? Side::up : side, log_delta, where);
  if (groups && loss) loss = groups_below(schedule, where, loss->tilt(), log_delta);
  const std::optional<MpfrNumber> finite = loss ? loss->finite_delta(epsilon) : std::nullopt;
  if (!finite) return nothing_known;
  const Rational total = sum_with(finite->rational(), loss->infinite().rational());
  return side == Side::up ? std::min(total, nothing_known) : std::max(total, nothing_known);
}

Enclosure exp_of(const Rational& x, unsigned bits) {
  return exp(Enclosure(x, bits));
}

unsigned bits_beside_one(const Rational& small) {
  return 2 * kStartBits + static_cast<unsigned>(std::clamp(-log2_estimate(small), 0.0, 65536.0));
}

Rational rounded_up(const Rational& value) {
  return MpfrNumber::rounded(value, kResultBits, MPFR_RNDU).rational();
}

/// e^X (delta of the Laplace laws at epsilon - X), X the excess; of their infinite mass there is no more.
/// Proof, section 8.
Rational delta_with_excess(const Schedule& schedule, const Rational& epsilon) {
  const Rational& excess = schedule.excess;
  const unsigned bits = bits_beside_one(excess);
  const Rational beyond = exp_of(excess, bits).high().rational();
  if (epsilon >= excess) {
    const Rational finite = schedule_delta(schedule, epsilon - excess, Side::up) - schedule.infinite_down;
    return schedule.infinite_down + rounded_up(beyond * finite);
  }
  // delta(-y) = 1 - e^-y + e^-y delta(y), y = X - epsilon.
  const Rational mirrored = schedule_delta(schedule, excess - epsilon, Side::up);
  const Enclosure growth = exp_of(epsilon, bits);
  return rounded_up((exp_of(excess, bits) - growth).high().rational() + growth.high().rational() * mirrored);
}

Rational pld_delta(std::span<const ComposedLaw> laws, const Rational& epsilon, Side side) {
  if (epsilon < 0) throw InvalidParameter("epsilon: " + text(epsilon) + " is negative");
  const ExponentRange range;
  const Schedule schedule = gather_schedule(laws, side);
  const Rational rest =
      schedule.excess == 0 ? schedule_delta(schedule, epsilon, side) : delta_with_excess(schedule, epsilon);
  return std::min(Rational(1), Rational(schedule.outright + rest));
}

/// Where the profile of one law crosses delta; the side of the result named.
Rational closed_epsilon(const PrivacyProfile& profile, const Rational& delta, Side side) {
  const bool none_needed = profile.delta(0, kStartBits).certainly_at_most(delta);
  if (none_needed) return 0;
  const auto largest = profile.largest_loss();
  if (largest && (*largest == 0 || delta <= profile.infinite_mass())) return *largest;
  const double mu = std::sqrt(profile.variance_estimate());
  Rational start =
      largest ? Rational(*largest / 2)
              : Rational(mu * mu / 2 + mu * std::sqrt(2 * std::log(1 / std::fmax(delta.get_d(), 1e-300))));
  if (start <= 0) start = 1;
  const Crossing crossing{[&](const Rational& x, unsigned bits) { return profile.delta(x, bits); },
                          false,
                          delta,
                          start,
                          kStartBits,
                          bits_max(delta, profile.mu_squared())};
  const Rational up = last_at_most(crossing);
  if (side == Side::up) return largest ? std::min(up, *largest) : up;
  return up * (1 - power_of_two(1 - static_cast<long>(kResultErrorBits)));
}

/// The bound of the side of delta, what is lost outright included.
EnoughSearch::Bound total_of(const TiltedLoss& loss, Side side) {
  return [&loss, side](const Rational& epsilon) {
    std::optional<MpfrNumber> total = loss.finite_delta(epsilon);
    if (total) {
      mpfr_add(total->get(), total->get(), loss.infinite().get(), side == Side::up ? MPFR_RNDU : MPFR_RNDD);
    }
    return total;
  };
}

struct EpsilonSearchResult {
  Rational epsilon;
  double tilt;
  double by_grid = 0;  ///< about how much of it is due to the grid; of the side up
};

/// By about how much the grid raises epsilon: ln(delta) falls with epsilon as fast as the tilt, and the
/// logarithms of moments rise by what joining the dots adds to them.
double grid_excess(const Schedule& schedule, const std::vector<GridLaw>& laws, double step, double tilt) {
  double exact = 0;
  for (const Schedule::Entry& entry : schedule.entries) {
    exact += static_cast<double>(entry.count) * entry.profile.log_moment_estimate(tilt);
  }
  return (cumulants(laws, step, tilt).value - exact) / tilt;
}

double log_of_finite(const Schedule& schedule, const Rational& delta) {
  return std::fmax(kLogDeltaMin, std::log(Rational(delta - schedule.infinite_down).get_d()));
}

/// Tilted for delta, and again for the epsilon found where that is far from where the first tilt led.
std::optional<EpsilonSearchResult> search_epsilon(const Schedule& schedule, const Grid& grid,
                                                  const Rational& delta, const Rational& most, Side side) {
  const double log_delta = log_of_finite(schedule, delta);
  const std::vector<GridLaw> laws = gridded(schedule, grid, log_delta, side);
  if (laws.empty()) return std::nullopt;
  const double step = grid.step.get_d();
  double tilt = tilt_for_log_delta(laws, step, log_delta);
  if (!std::isfinite(tilt) || !(tilt > 0)) return std::nullopt;
  std::optional<TiltedLoss> loss(std::in_place, laws, grid.step, tilt, side);
  EnoughSearch search(total_of(*loss, side), delta, most, side);
  EpsilonSearchResult found{search.run(loss->centre(), tilt), tilt};
  for (int again = 0; again < kTiltsMax && found.epsilon > 0; ++again) {
    const double spread = std::fmax(step, std::sqrt(cumulants(laws, step, tilt).variance));
    if (std::fabs(loss->centre() - found.epsilon.get_d()) < kSpreadsMax * spread) break;
    tilt = tilt_for_epsilon(laws, step, found.epsilon.get_d());
    loss.emplace(laws, grid.step, tilt, side);
    search.take(total_of(*loss, side));
    found = {search.run(found.epsilon.get_d(), tilt), tilt};
  }
  if (side == Side::up && !grid.exact) found.by_grid = grid_excess(schedule, laws, step, tilt);
  return found;
}

/// A finer grid on which less than `share` of epsilon is due to the grid, if it is not too fine to work with.
std::optional<Grid> finer(const Grid& grid, const EpsilonSearchResult& found, double share,
                          const Schedule& schedule) {
  const double wanted = found.by_grid / (share * found.epsilon.get_d());
  if (!(wanted > 1)) return std::nullopt;
  double least = std::sqrt(deviation(schedule).variance) / kCellsFinest;
  for (const Schedule::Entry& entry : schedule.entries) {
    if (const auto largest = entry.profile.largest_loss()) {
      least = std::fmax(least, largest->get_d() / kCellsOfLawFinest);
    }
  }
  const double factor = std::floor(std::fmin(std::ceil(1.1 * std::sqrt(wanted)), grid.step.get_d() / least));
  if (!(factor >= 2)) return std::nullopt;
  // A whole part of the step: what lay on the grid still does.
  return Grid{grid.step / Rational(factor), false};
}

/// By simple composition: no grid, and never refused for being far out.
Rational epsilon_by_addition(const Schedule& schedule, const Rational& delta) {
  Rational sum = 0;
  const Rational share = (delta - schedule.infinite_up) / static_cast<unsigned long>(schedule.entries.size());
  for (const Schedule::Entry& entry : schedule.entries) {
    const Rational count = Integer(static_cast<unsigned long>(entry.count));
    const auto largest = entry.profile.largest_loss();
    sum += count * (largest ? *largest : closed_epsilon(entry.profile, share / count, Side::up));
  }
  return sum;
}

/// From below, looked for next to where the upper bound is.
Rational epsilon_of_groups(const Schedule& schedule, const Grid& grid, const Rational& delta,
                           const Rational& most) {
  const std::optional<EpsilonSearchResult> above = search_epsilon(schedule, grid, delta, most, Side::up);
  if (!above || above->epsilon == 0) return 0;
  const double near = above->epsilon.get_d();
  const std::optional<TiltedLoss> loss =
      groups_below(schedule, near, above->tilt, log_of_finite(schedule, delta));
  if (!loss) return 0;
  return EnoughSearch(total_of(*loss, Side::down), delta, most, Side::down).run(near, above->tilt);
}

std::optional<Rational> schedule_epsilon(const Schedule& schedule, const Rational& delta, Side side) {
  // An infinite mass too long to compare exactly is refused from above and let pass from below.
  if (delta < (side == Side::up ? schedule.infinite_up : schedule.infinite_down)) return std::nullopt;
  if (delta == 1 || schedule.entries.empty()) return Rational(0);
  if (delta <= schedule.infinite_up) {
    if (schedule.largest_loss && side == Side::up) return schedule.largest_loss;
    if (!schedule.largest_loss && delta == schedule.infinite_down) return std::nullopt;
    if (schedule.infinite_down == schedule.infinite_up) return schedule.largest_loss;
  }
  if (const PrivacyProfile* profile = closed_form(schedule)) return closed_epsilon(*profile, delta, side);

  const Rational most = schedule.largest_loss ? *schedule.largest_loss : epsilon_by_addition(schedule, delta);
  const Rational nothing_known = side == Side::up ? most : Rational(0);
  std::optional<Grid> grid = chosen_grid(schedule);
  if (!grid) return nothing_known;
  if (side == Side::down && in_groups(schedule, *grid))
    return epsilon_of_groups(schedule, *grid, delta, most);
  Rational best = nothing_known;
  const double share = deviation(schedule).uses > kUsesMany ? kShareOfMany : kShareOfFew;
  for (int refinement = 0; grid; ++refinement) {
    const std::optional<EpsilonSearchResult> found = search_epsilon(schedule, *grid, delta, most, side);
    if (!found) break;
    best = side == Side::up ? std::min(best, found->epsilon) : std::max(best, found->epsilon);
    if (side == Side::down || refinement == kRefinementsMax || best == 0) break;
    grid = finer(*grid, *found, share, schedule);
  }
  return best;
}

/// What delta_with_excess turns into at most `delta`.
Rational delta_before_excess(const Schedule& schedule, const Rational& delta) {
  const Rational finite = delta - schedule.infinite_down;
  if (finite <= 0) return delta;
  const Rational shrunk = exp_of(-schedule.excess, bits_beside_one(schedule.excess)).low().rational();
  return schedule.infinite_down + shrunk * finite;
}

std::optional<Rational> pld_epsilon(std::span<const ComposedLaw> laws, const Rational& delta, Side side) {
  if (delta < 0 || delta > 1) throw InvalidParameter("delta: " + text(delta) + " is not between 0 and 1");
  const ExponentRange range;
  const Schedule schedule = gather_schedule(laws, side);
  if (delta == 1) return Rational(0);
  const Rational rest = delta - schedule.outright;
  if (rest < 0) return std::nullopt;
  if (schedule.excess == 0) return schedule_epsilon(schedule, rest, side);
  const auto epsilon = schedule_epsilon(schedule, delta_before_excess(schedule, rest), side);
  if (!epsilon) return std::nullopt;
  return *epsilon + schedule.excess;
}

}  // namespace

Rational pld_delta_up(std::span<const ComposedLaw> laws, const Rational& epsilon) {
  return pld_delta(laws, epsilon, Side::up);
}

std::optional<Rational> pld_epsilon_up(std::span<const ComposedLaw> laws, const Rational& delta) {
  return pld_epsilon(laws, delta, Side::up);
}

Rational pld_delta_down(std::span<const ComposedLaw> laws, const Rational& epsilon) {
  return pld_delta(laws, epsilon, Side::down);
}

std::optional<Rational> pld_epsilon_down(std::span<const ComposedLaw> laws, const Rational& delta) {
  return pld_epsilon(laws, delta, Side::down);
}

}  // namespace epsilog::accounting
