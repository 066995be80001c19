#include "epsilog/mechanisms/snapping_for_accuracy.hpp"

#include <algorithm>
#include <string>

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "snapping_accuracy.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::Integer;
using accounting::kUnitsMax;

constexpr unsigned kBoundBits = 64;

void check(const AccuracyGoal& goal) {
  if (goal.accuracy <= 0) throw InvalidParameter("accuracy: must be positive");
  if (goal.alpha <= 0 || goal.alpha >= 1) {
    throw InvalidParameter("alpha: must lie strictly between 0 and 1");
  }
  if (goal.sensitivity <= 0) throw InvalidParameter("sensitivity: must be positive");
  if (goal.bound && *goal.bound <= 0) throw InvalidParameter("bound: must be positive");
  if (!goal.bound && goal.arithmetic == Arithmetic::mpfr) {
    throw InvalidParameter("bound: the mpfr arithmetic needs one, since its loss depends on it");
  }
}

/// The bound computed with. One of more than twice the accuracy has no effect on whether the goal is
/// met, and no bound makes it harder to meet.
Rational effective_bound(const AccuracyGoal& goal) {
  return goal.bound.value_or(4 * goal.accuracy);
}

// ---------------------------------------------------------------------------------- the ideal law

/// Whether the ideal law of this scale and grid meets the goal.
bool met_by_law(const AccuracyGoal& goal, const Rational& lambda, const Rational& grid) {
  const SnappingLaw law{lambda, grid, effective_bound(goal)};
  return at_most(worst_error(law, goal.accuracy), lambda, goal.alpha);
}

/// A grid at and below which the goal is met, for lambda <= Lambda: twice it is above
/// a / (1/2 + ln(1/alpha)) at most, and Lambda/2 + lambda ln(1/alpha) is an accuracy of every answer.
Rational fine_enough_grid(const AccuracyGoal& goal) {
  const Rational steps = Rational(1, 2) + log_of_inverse_up(goal.alpha, kBoundBits);
  return power_of_two_at_least(goal.accuracy / steps) / 2;
}

/// The least number of grid units of epsilon from which on the ideal law meets the goal always.
///
/// Between two powers of two lambda moves under a fixed grid, and the scales that meet the goal form an
/// interval (proof, "The epsilon for an accuracy"): both ends of an octave decide it, or one crossing.
Integer ideal_units(const AccuracyGoal& goal) {
  const Rational largest_lambda = goal.sensitivity * accounting::power_of_ten(12);  // at one unit
  const auto units_at = [&](const Rational& lambda) { return accounting::ceil(largest_lambda / lambda); };
  for (Rational finer = fine_enough_grid(goal); finer < largest_lambda; finer *= 2) {
    const Rational grid = 2 * finer;
    if (!met_by_law(goal, finer, grid)) return units_at(finer);
    if (met_by_law(goal, grid, grid)) continue;
    Integer missed = units_at(grid) - 1;  // or not in this octave
    Integer met = units_at(finer);
    while (met - missed > 1) {
      const Integer middle = (met + missed) / 2;
      (met_by_law(goal, largest_lambda / middle, grid) ? met : missed) = middle;
    }
    return met;
  }
  return 1;
}

// ------------------------------------------------------------------------------------ the mechanism

/// What the mechanism itself says of an epsilon.
struct Verdict {
  bool met = false;
  std::string out_of_reach;  ///< why no larger epsilon can be calibrated either; "" if that is not so
};

Verdict verdict_of_mechanism(const AccuracyGoal& goal, std::int64_t units) {
  const Rational bound = effective_bound(goal);
  try {
    const SnappingMechanism mechanism({.epsilon = Epsilon::from_units(units),
                                       .sensitivity = goal.sensitivity,
                                       .coordinates = goal.coordinates,
                                       .lower = -bound,
                                       .upper = bound,
                                       .arithmetic = goal.arithmetic,
                                       .precision = goal.precision});
    return {.met = mechanism.accuracy_up(goal.alpha) <= goal.accuracy, .out_of_reach = ""};
  } catch (const InvalidParameter& refusal) {
    // Calibration refuses an epsilon that is too small by that name; everything else only gets worse as
    // lambda falls.
    const std::string message = refusal.what();
    return {.met = false, .out_of_reach = message.starts_with("epsilon:") ? "" : message};
  }
}

/// The first epsilon at or above `first` at which the mechanism meets the goal.
std::int64_t certified_units(const AccuracyGoal& goal, std::int64_t first) {
  std::int64_t missed = first - 1;
  std::int64_t found = first;
  Verdict verdict = verdict_of_mechanism(goal, found);
  for (std::int64_t step = 1; !verdict.met && verdict.out_of_reach.empty(); step *= 2) {
    if (found == kUnitsMax) throw InvalidParameter("accuracy: no epsilon is large enough for it");
    missed = found;
    found += std::min(step, kUnitsMax - found);
    verdict = verdict_of_mechanism(goal, found);
  }
  while (found - missed > 1) {
    const std::int64_t middle = missed + (found - missed) / 2;
    const Verdict there = verdict_of_mechanism(goal, middle);
    if (there.met || !there.out_of_reach.empty()) {
      found = middle;
      verdict = there;
    } else {
      missed = middle;
    }
  }
  if (!verdict.met) throw InvalidParameter(verdict.out_of_reach);
  return found;
}

}  // namespace

Epsilon snapping_epsilon_for_accuracy_up(const AccuracyGoal& goal) {
  check(goal);
  const Integer first = ideal_units(goal);
  if (first > Integer(static_cast<long>(kUnitsMax))) {
    throw InvalidParameter("accuracy: no epsilon is large enough for it");
  }
  return Epsilon::from_units(certified_units(goal, first.get_si()));
}

}  // namespace epsilog::mechanisms
