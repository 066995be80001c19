#include "enough_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 64;
/// The ends are brought together to this part of the upper one.
constexpr long kWidthLog2 = -32;
constexpr int kStepsMax = 24;
constexpr int kNarrowingsMax = 100;
constexpr double kUnknown = std::numeric_limits<double>::infinity();

double log_of(const MpfrNumber& value) {
  MpfrNumber result(kBits);
  mpfr_log(result.get(), value.get(), MPFR_RNDN);
  return result.nearest_double();
}

}  // namespace

EnoughSearch::EnoughSearch(Bound bound, const Rational& delta, const Rational& most, Side side)
    : bound_(std::move(bound)),
      delta_(delta),
      most_(most),
      log_delta_(log_of(MpfrNumber::rounded(delta, kBits, MPFR_RNDN))),
      side_(side),
      low_{0, kUnknown},
      high_{most, -kUnknown} {}

void EnoughSearch::take(Bound bound) {
  bound_ = std::move(bound);
  // What the bound before could not say, this one may.
  if (side_ == Side::up) low_ = {0, kUnknown};
  if (side_ == Side::down) high_ = {most_, -kUnknown};
}

Rational EnoughSearch::run(double guess, double slope) {
  enclose(guess, slope);
  // From below 0 is an answer without being tried.
  if (low_.epsilon == 0 && low_.excess == kUnknown && side_ == Side::up && try_epsilon(0)) return 0;
  narrow();
  return side_ == Side::up ? high_.epsilon : low_.epsilon;
}

/// Steps away from the guess, first by what the slope promises and a little more, then ever further.
void EnoughSearch::enclose(double guess, double slope) {
  double at = std::fmin(guess, high_.epsilon.get_d() * (1 - 0x1p-20));
  double further = 1 + 0x1p-10;
  for (int step = 0; step < kStepsMax && inside(at); ++step) {
    const bool enough = try_epsilon(Rational(at));
    if (low_.epsilon > 0 && std::isfinite(high_.excess)) return;
    const double excess = enough ? high_.excess : low_.excess;
    const double least = (0x1p-24 + 0.02 * (further - 1)) * guess;
    double move = std::fabs(excess / slope) * further;
    if (!(move > least && std::isfinite(move))) move = least;
    const double room = enough ? at - low_.epsilon.get_d() : high_.epsilon.get_d() - at;
    at += (enough ? -1 : 1) * std::fmin(move, room / 2);
    further = 1 + 4 * (further - 1) + (further > 1.1 ? 1 : 0);
  }
}

void EnoughSearch::narrow() {
  double low_excess = low_.excess;
  double high_excess = high_.excess;
  Rational width_before = high_.epsilon - low_.epsilon;
  bool last_enough = false;
  for (int step = 0; step < kNarrowingsMax; ++step) {
    const Rational width = high_.epsilon - low_.epsilon;
    const Rational tolerance = high_.epsilon * power_of_two(kWidthLog2);
    if (width <= tolerance) return;
    // Of three steps one halves unless the others did.
    const bool halve = step % 3 == 2 && width * 4 > width_before;
    if (step % 3 == 2) width_before = width;
    Rational at =
        halve ? Rational((low_.epsilon + high_.epsilon) / 2) : interpolated(low_excess, high_excess);
    // Next to an end: on the other side of it, so that the other one follows.
    at = std::clamp(at, Rational(low_.epsilon + tolerance / 2), Rational(high_.epsilon - tolerance / 2));
    at = MpfrNumber::rounded(at, kBits, MPFR_RNDN).rational();
    const bool enough = try_epsilon(at);
    // A straight line that keeps one end is made steeper there (the Illinois rule).
    const bool again = step > 0 && enough == last_enough;
    low_excess = enough ? (again ? low_excess / 2 : low_excess) : low_.excess;
    high_excess = enough ? high_.excess : (again ? high_excess / 2 : high_excess);
    last_enough = enough;
  }
}

Rational EnoughSearch::interpolated(double low_excess, double high_excess) const {
  const double share = low_excess / (low_excess - high_excess);
  if (!std::isfinite(low_excess) || !std::isfinite(high_excess) || !(share >= 0 && share <= 1)) {
    return (low_.epsilon + high_.epsilon) / 2;
  }
  return low_.epsilon + (high_.epsilon - low_.epsilon) * Rational(share);
}

bool EnoughSearch::try_epsilon(const Rational& epsilon) {
  const std::optional<MpfrNumber> bound = bound_(epsilon);
  const bool enough = bound ? mpfr_cmp_q(bound->get(), delta_.get_mpq_t()) <= 0 : side_ == Side::down;
  const double excess = bound ? log_of(*bound) - log_delta_ : (enough ? -kUnknown : kUnknown);
  (enough ? high_ : low_) = {epsilon, excess};
  return enough;
}

bool EnoughSearch::inside(double epsilon) const {
  return std::isfinite(epsilon) && Rational(epsilon) > low_.epsilon && Rational(epsilon) < high_.epsilon;
}

}  // namespace epsilog::accounting
