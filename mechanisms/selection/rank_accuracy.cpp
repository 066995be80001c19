#include "rank_accuracy.hpp"

#include <algorithm>

#include "epsilog/accounting/certified_crossing.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::Enclosure;
using accounting::ExponentRange;
using accounting::kRefinementMax;
using accounting::last_at_most;
using accounting::log2_estimate;

/// P(a wrong candidate is taken) if one is right and m - 1 show heads with probability w each:
/// 1 - (1 - (1 - w)^m) / (m w).
Enclosure wrong_of_flips(const Rational& w, unsigned long m, unsigned bits) {
  const Enclosure one(1UL, bits);
  if (w >= 1) return one - one / Enclosure(m, bits);
  const Enclosure none = exp(log1p(-Enclosure(w, bits)) * m);
  return one - (one - none) / (Enclosure(w, bits) * m);
}

Rational odds_down(Selection selection, std::uint64_t candidates, const Rational& alpha) {
  if (candidates == 1) return 1;
  const auto m = static_cast<unsigned long>(candidates);
  if (selection == Selection::exponential) return alpha / ((1 - alpha) * (m - 1));
  if (alpha >= 1 - Rational(1, m)) return 1;
  // About (m - 1) w / 2 of the sum is left where all is small: twice the digits of alpha and m.
  const auto lost = static_cast<unsigned>(2 * std::max(0.0, -log2_estimate(alpha)) + 64);
  return last_at_most(
      {.probability = [&](const Rational& w, unsigned bits) { return wrong_of_flips(w, m, bits); },
       .increasing = true,
       .target = alpha,
       .start = std::min(Rational(1, 2), Rational(2 * alpha / m)),
       .bits = 192 + lost,
       .bits_max = kRefinementMax + 4 * lost});
}

}  // namespace

RankErrorBound::RankErrorBound(Selection selection, std::uint64_t candidates, const Rational& alpha) {
  const ExponentRange range;
  odds_ = odds_down(selection, candidates, alpha);
}

Rational RankErrorBound::error_up(const Rational& rate, const Rational& step) const {
  if (odds_ >= 1) return 0;
  const ExponentRange range;
  // An error of t and more has probability at most alpha as soon as e^-(rate t) <= w.
  const Rational steps = rate * step;
  const unsigned bits = 128 + static_cast<unsigned>(std::max(0.0, -log2_estimate(steps)));
  const Rational least =
      (log(Enclosure(Rational(1 / odds_), bits)) / Enclosure(steps, bits)).high().rational();
  return step * (std::max(accounting::ceil(least), Integer(1)) - 1);
}

}  // namespace epsilog::mechanisms
