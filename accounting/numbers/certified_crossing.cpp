#include "epsilog/accounting/certified_crossing.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kStepsMax = 400;
constexpr long kSearchBits = kResultErrorBits + 6;

Rational rounded(const Rational& value, unsigned bits, mpfr_rnd_t direction) {
  return MpfrNumber::rounded(value, bits, direction).rational();
}

/// The geometric mean, roughly: halving on the logarithmic scale needs few bits.
Rational between(const Rational& low, const Rational& high) {
  MpfrNumber root = MpfrNumber::rounded(low * high, 64, MPFR_RNDN);
  mpfr_sqrt(root.get(), root.get(), MPFR_RNDN);
  const Rational middle = root.rational();
  return middle > low && middle < high ? middle : Rational((low + high) / 2);
}

struct Point {
  Rational x;
  MpfrNumber value;

  [[nodiscard]] bool above() const { return mpfr_sgn(value.get()) > 0; }
  [[nodiscard]] bool finite() const { return mpfr_number_p(value.get()) != 0; }
};

/// Rises through zero at the crossing and is nearly straight there: the logarithm of the probability, or of
/// its complement where that is the smaller.
MpfrNumber distance_to_target(const Crossing& crossing, const Rational& x, unsigned bits) {
  const bool complement = crossing.target * 2 > 1;
  const Enclosure one(1UL, bits);
  const Enclosure probability = crossing.probability(x, bits);
  const Enclosure target(complement ? Rational(1 - crossing.target) : crossing.target, bits);
  MpfrNumber result = log((complement ? one - probability : probability) / target).middle();
  if (complement) {
    // Where the complement is lost to rounding, x is far above.
    if (mpfr_number_p(result.get()) == 0) mpfr_set_inf(result.get(), -1);
    mpfr_neg(result.get(), result.get(), MPFR_RNDN);
  } else if (mpfr_number_p(result.get()) == 0) {
    mpfr_set_inf(result.get(), -1);
  }
  if (!crossing.increasing) mpfr_neg(result.get(), result.get(), MPFR_RNDN);
  return result;
}

/// Where the line through both points is zero, if that is a finite positive number.
std::optional<Rational> secant_zero(const Point& a, const Point& b) {
  if (!a.finite() || !b.finite()) return std::nullopt;
  const Rational rise = b.value.rational() - a.value.rational();
  if (rise == 0) return std::nullopt;
  const Rational zero = b.x - b.value.rational() * (b.x - a.x) / rise;
  if (zero <= 0) return std::nullopt;
  return zero;
}

/// The next point to look at: the secant's zero if it lies where the zero can be, else a bold step.
Rational next_point(const Point& before, const Point& last, const std::optional<Rational>& low,
                    const std::optional<Rational>& high, bool halve) {
  std::optional<Rational> zero = halve ? std::nullopt : secant_zero(before, last);
  if (low && high) return zero && *zero > *low && *zero < *high ? *zero : between(*low, *high);
  const Rational reach = last.above() ? Rational(last.x / 8) : Rational(last.x * 8);
  if (!zero || (last.above() ? *zero >= last.x : *zero <= last.x)) return reach;
  return last.above() ? std::max(*zero, reach) : std::min(*zero, reach);
}

}  // namespace

std::optional<bool> at_most(const Enclosed& number, const Rational& limit, unsigned bits, unsigned bits_max) {
  for (unsigned precision = bits;; precision = std::min(2 * precision, bits_max)) {
    const Enclosure enclosure = number(precision);
    if (enclosure.certainly_at_most(limit)) return true;
    if (enclosure.certainly_above(limit)) return false;
    if (precision >= bits_max) return std::nullopt;
  }
}

Rational narrow_up(const Enclosed& number, unsigned bits, unsigned bits_max) {
  const Rational smallest = power_of_two(kSmallestExponent);
  for (unsigned precision = bits;; precision = std::min(2 * precision, bits_max)) {
    const Enclosure enclosure = number(precision);
    if (enclosure.certainly_at_most(smallest)) return smallest;
    if (enclosure.narrow(kResultErrorBits + 20) || precision >= bits_max) {
      return rounded(enclosure.high().rational(), kResultBits, MPFR_RNDU);
    }
  }
}

Rational near_crossing(const Crossing& crossing, const Rational& start, unsigned bits) {
  const auto at = [&](const Rational& x) {
    const Rational point = rounded(x, bits, MPFR_RNDN);
    return Point{point, distance_to_target(crossing, point, bits)};
  };
  std::optional<Rational> low;
  std::optional<Rational> high;
  const auto note = [&](const Point& point) { (point.above() ? high : low) = point.x; };
  Point before = at(start);
  note(before);
  Point last = at(before.x * (before.above() ? Rational(1023, 1024) : Rational(1025, 1024)));
  note(last);
  Rational width_before = 0;
  for (unsigned step = 0; step < kStepsMax; ++step) {
    // A secant that creeps along one side is made to halve every third step.
    const Rational width = low && high ? Rational(*high / *low - 1) : Rational(0);
    const bool creeping = step % 3 == 2 && width_before > 0 && width * 4 > width_before;
    if (step % 3 == 2) width_before = width;
    const Rational next = next_point(before, last, low, high, creeping);
    if (!creeping && abs(next - last.x) * power_of_two(kSearchBits) <= next) return next;
    if (low && high && width * power_of_two(kSearchBits) <= 1) return *low;
    before = std::move(last);
    last = at(next);
    note(last);
    if (last.finite() && mpfr_zero_p(last.value.get()) != 0) return last.x;
  }
  return last.x;
}

Rational last_at_most(const Crossing& crossing) {
  const mpfr_rnd_t inward = crossing.increasing ? MPFR_RNDD : MPFR_RNDU;
  const auto towards_failure = [&](const Rational& x, const Rational& relative) {
    return Rational(x * (crossing.increasing ? Rational(1 + relative) : Rational(1 - relative)));
  };
  const auto holds = [&](const Rational& x) {
    return at_most([&](unsigned bits) { return crossing.probability(x, bits); }, crossing.target,
                   crossing.bits, crossing.bits_max);
  };
  const Rational margin = power_of_two(-static_cast<long>(kResultErrorBits) - 3);
  Rational near = crossing.start;
  for (unsigned bits = crossing.bits;; bits = std::min(2 * bits, crossing.bits_max)) {
    near = near_crossing(crossing, near, bits);
    const Rational safe = rounded(towards_failure(near, -margin), kResultBits, inward);
    const Rational beyond = rounded(towards_failure(safe, 4 * margin), kResultBits, MPFR_RNDN);
    if (holds(safe) == true && holds(beyond) == false) return safe;
    if (bits >= crossing.bits_max) break;
  }
  // Not decided so close to the boundary: retreat from it until the probability is certain.
  for (long retreat = -static_cast<long>(kResultErrorBits); retreat < 0; ++retreat) {
    const Rational safe = rounded(towards_failure(near, -power_of_two(retreat)), kResultBits, inward);
    if (holds(safe) == true) return safe;
  }
  throw InvalidParameter("the numbers are too extreme for a certified answer");
}

}  // namespace epsilog::accounting
