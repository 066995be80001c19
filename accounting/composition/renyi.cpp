#include "epsilog/accounting/renyi.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 176;
constexpr unsigned kQuickBits = 80;

void require_not_negative(const Rational& value, const char* name) {
  if (value < 0) throw InvalidParameter(std::string(name) + ": " + text(value) + " is negative");
}

void require_order(const Rational& order) {
  if (order <= 1) throw InvalidParameter("order: " + text(order) + " is not above 1");
}

Rational rounded_up(const Rational& value) {
  return MpfrNumber::rounded(value, kResultBits, MPFR_RNDU).rational();
}

/// A divergence most + ln(part)/(order - 1), part <= 1: `most` is the pure loss, which the rest takes from.
struct Divergence {
  Rational most;
  Rational order;
  Enclosed part;

  [[nodiscard]] Enclosure operator()(unsigned bits) const {
    return Enclosure(most, bits) + log(part(bits)) / Enclosure(order - 1, bits);
  }
  /// Bits that the difference cancels: the divergence is of the order of most^2.
  [[nodiscard]] unsigned cancelled_bits() const {
    return 2 * static_cast<unsigned>(std::clamp(-log2_estimate(most), 0.0, 30000.0));
  }
  /// Within 2^-100.
  [[nodiscard]] Rational narrow() const {
    const ExponentRange range;
    return narrow_up(*this, kBits + cancelled_bits(), 65536);
  }
  /// Within about 2^-60, in a third of the time.
  [[nodiscard]] Rational quick() const {
    const ExponentRange range;
    const Enclosure value = (*this)(kQuickBits + cancelled_bits());
    return mpfr_number_p(value.high().get()) != 0 && mpfr_sgn(value.high().get()) > 0
               ? value.high().rational()
               : narrow();
  }
};

Enclosure exp_of(const Rational& x, unsigned bits) {
  return exp(Enclosure(x, bits));
}

/// r^d for 0 < r = e^-x < 1 and the sum r + ... + r^(d-1) = (r - r^d)/(1 - r).
Enclosure inner_sum(const Rational& x, const Integer& distance, unsigned bits) {
  const Enclosure r = exp_of(-x, bits);
  return (r - exp_of(-x * distance, bits)) / (Enclosure(1UL, bits) - r);
}

/// ln of (1 - 1/order)^order/(order - 1), order = 1 + beta.
Enclosure log_of_conversion(const Rational& beta, unsigned bits) {
  const Enclosure exact_beta(beta, bits);
  return -(exact_beta * log1p(Enclosure(1 / beta, bits))) - log1p(exact_beta);
}

void require_curve(std::span<const RenyiPoint> curve) {
  if (curve.empty()) throw InvalidParameter("curve: has no order");
  for (const RenyiPoint& point : curve) {
    require_order(point.order);
    require_not_negative(point.divergence, "divergence");
  }
}

/// What the conversion takes from a divergence: ln(order delta)/(order-1) - ln(1 - 1/order), most often
/// negative.
Enclosure conversion_term(const Rational& order, const Rational& delta, unsigned bits) {
  const Enclosure log_part =
      log(Enclosure(order, bits) * Enclosure(delta, bits)) / Enclosure(order - 1, bits);
  return log_part + log1p(Enclosure(1 / (order - 1), bits));
}

/// The least of a bound that falls and then rises along renyi_orders(); of any other bound one of its values.
/// Where neighbours are equal, at 0 or 1, it goes on towards smaller orders, as delta is 1 at large ones.
Rational least_over_orders(const std::function<Rational(const Rational&)>& bound) {
  const std::vector<Rational>& orders = renyi_orders();
  std::map<std::size_t, Rational> known;
  const auto at = [&](std::size_t i) -> const Rational& {
    const auto found = known.find(i);
    return found != known.end() ? found->second : known.emplace(i, bound(orders[i])).first->second;
  };
  std::size_t low = 0;
  std::size_t high = orders.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (at(middle) <= at(middle + 1)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const auto least = std::min_element(known.begin(), known.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return std::min(least->second, at(low));
}

Divergence laplace_divergence(const Rational& t, const Rational& order) {
  const Rational odd = 2 * order - 1;
  return {t, order, [=](unsigned bits) {
            return (Enclosure(order, bits) + Enclosure(order - 1, bits) * exp_of(-odd * t, bits)) /
                   Enclosure(odd, bits);
          }};
}

Divergence discrete_laplace_divergence(const Rational& scale, const Integer& distance,
                                       const Rational& order) {
  const Rational odd = 2 * order - 1;
  return {distance / scale, order, [=](unsigned bits) {
            const Enclosure one(1UL, bits);
            const Enclosure q = exp_of(-1 / scale, bits);
            const Enclosure ends = one + exp_of(-odd * distance / scale, bits);
            return (ends + (one - q) * inner_sum(odd / scale, distance, bits)) / (one + q);
          }};
}

Divergence pure_divergence(const Rational& epsilon, const Rational& order) {
  return {epsilon, order, [=](unsigned bits) {
            const Enclosure one(1UL, bits);
            return (one + exp_of((1 - 2 * order) * epsilon, bits)) / (one + exp_of(-epsilon, bits));
          }};
}

/// Of Laplace noise and order extra/(order-1) beside it, or of the pure loss: at orders near 1 the latter.
Rational snapping_divergence_up(const ComposedLaw& law, const Rational& order) {
  const Rational loss = law.sensitivity / law.scale;
  const Rational by_laplace = laplace_divergence(loss, order).quick() + order * law.extra / (order - 1);
  return std::min(by_laplace, pure_divergence(loss + law.extra, order).quick());
}

Rational divergence_up(const ComposedLaw& law, const Rational& order) {
  switch (law.kind) {
    case ComposedLaw::Kind::laplace:
      return laplace_divergence(law.sensitivity / law.scale, order).quick();
    case ComposedLaw::Kind::discrete_laplace:
      return discrete_laplace_divergence(law.scale, floor(law.sensitivity), order).quick();
    case ComposedLaw::Kind::gaussian:
    case ComposedLaw::Kind::discrete_gaussian:
      return renyi_of_gaussian(law.scale, law.sensitivity, order);
    case ComposedLaw::Kind::snapping:
      return snapping_divergence_up(law, order);
    case ComposedLaw::Kind::pure:
    case ComposedLaw::Kind::approximate:
      break;
  }
  return law.epsilon == 0 ? Rational(0) : pure_divergence(law.epsilon, order).quick();
}

void require_law(const ComposedLaw& law) {
  if (law.count < 1) throw InvalidParameter("count: must be at least 1");
  if (law.kind == ComposedLaw::Kind::pure || law.kind == ComposedLaw::Kind::approximate) {
    require_not_negative(law.epsilon, "epsilon");
    return;
  }
  require_positive(law.scale, "scale");
  require_positive(law.sensitivity, "sensitivity");
  if (law.kind == ComposedLaw::Kind::snapping) require_not_negative(law.extra, "extra");
  const bool discrete =
      law.kind == ComposedLaw::Kind::discrete_laplace || law.kind == ComposedLaw::Kind::discrete_gaussian;
  if (discrete && law.sensitivity.get_den() != 1) {
    throw InvalidParameter("sensitivity: " + text(law.sensitivity) +
                           " is no integer, which discrete noise needs");
  }
}

}  // namespace

const std::vector<Rational>& renyi_orders() {
  static const std::vector<Rational> orders = [] {
    std::vector<Rational> all;
    for (long octave = -4; octave <= 13; ++octave) {
      for (long eighth = 8; eighth < 16; ++eighth)
        all.push_back(1 + Rational(eighth) * power_of_two(octave - 3));
    }
    return all;
  }();
  return orders;
}

Rational renyi_of_gaussian(const Rational& sigma, const Rational& sensitivity, const Rational& order) {
  require_positive(sigma, "sigma");
  require_not_negative(sensitivity, "sensitivity");
  require_order(order);
  return order * sensitivity * sensitivity / (2 * sigma * sigma);
}

Rational renyi_of_laplace_up(const Rational& scale, const Rational& sensitivity, const Rational& order) {
  require_positive(scale, "scale");
  require_not_negative(sensitivity, "sensitivity");
  require_order(order);
  if (sensitivity == 0) return 0;
  return laplace_divergence(sensitivity / scale, order).narrow();
}

Rational renyi_of_discrete_laplace_up(const Rational& scale, const Integer& distance, const Rational& order) {
  require_positive(scale, "scale");
  require_not_negative(distance, "distance");
  require_order(order);
  if (distance == 0) return 0;
  return discrete_laplace_divergence(scale, distance, order).narrow();
}

Rational renyi_of_pure_up(const Rational& epsilon, const Rational& order) {
  require_not_negative(epsilon, "epsilon");
  require_order(order);
  if (epsilon == 0) return 0;
  return pure_divergence(epsilon, order).narrow();
}

Rational renyi_of_law_up(const ComposedLaw& law, const Rational& order) {
  require_law(law);
  require_order(order);
  return rounded_up(Integer(static_cast<unsigned long>(law.count)) * divergence_up(law, order));
}

RenyiCurve renyi_curve_up(const ComposedLaw& law) {
  RenyiCurve curve;
  for (const Rational& order : renyi_orders()) curve.push_back({order, renyi_of_law_up(law, order)});
  return curve;
}

void compose_renyi(RenyiCurve& sum, const RenyiCurve& next) {
  const auto same = [](const RenyiPoint& a, const RenyiPoint& b) { return a.order == b.order; };
  if (!std::equal(sum.begin(), sum.end(), next.begin(), next.end(), same)) {
    throw InvalidParameter("curve: divergences of different orders do not add");
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i].divergence = rounded_up(sum[i].divergence + next[i].divergence);
  }
}

Rational renyi_epsilon_up(std::span<const RenyiPoint> curve, const Rational& delta) {
  require_curve(curve);
  require_probability(delta, "delta");
  const ExponentRange range;
  const unsigned bits = 2 * kBits;
  std::optional<Rational> least;
  for (const RenyiPoint& point : curve) {
    const Enclosure epsilon = Enclosure(point.divergence, bits) - conversion_term(point.order, delta, bits);
    const Rational bound = rounded_up(epsilon.high().rational());
    if (!least || bound < *least) least = bound;
  }
  return std::max(*least, Rational(0));
}

Rational renyi_epsilon_by_search_up(const RenyiDivergence& divergence, const Rational& delta) {
  require_probability(delta, "delta");
  return least_over_orders([&](const Rational& order) {
    const RenyiPoint point{order, divergence(order)};
    return renyi_epsilon_up({&point, 1}, delta);
  });
}

Rational renyi_delta_by_search_up(const RenyiDivergence& divergence, const Rational& epsilon) {
  require_not_negative(epsilon, "epsilon");
  return least_over_orders([&](const Rational& order) {
    const RenyiPoint point{order, divergence(order)};
    return renyi_delta_up({&point, 1}, epsilon);
  });
}

Rational renyi_divergence_down(const Rational& order, const Rational& epsilon, const Rational& delta) {
  require_order(order);
  require_positive(epsilon, "epsilon");
  require_probability(delta, "delta");
  const ExponentRange range;
  // Of 128 bits, as the epsilon that comes back from the divergence will be.
  const Rational target = MpfrNumber::rounded(epsilon, kResultBits, MPFR_RNDD).rational();
  for (unsigned bits = 2 * kBits; bits <= kRefinementMax; bits *= 2) {
    const Enclosure divergence = Enclosure(target, bits) + conversion_term(order, delta, bits);
    if (mpfr_sgn(divergence.high().get()) <= 0) break;
    if (divergence.narrow(kResultBits)) {
      return MpfrNumber::rounded(divergence.low().rational(), kResultBits, MPFR_RNDD).rational();
    }
  }
  const Enclosure least = -conversion_term(order, delta, 2 * kBits);
  throw InvalidParameter("order: at order " + text(order) + " and delta " + text(delta) +
                         " a mechanism is (epsilon, delta)-DP only for an epsilon above " +
                         text_up(least.high().rational(), 4) + ", whatever its divergence; epsilon is " +
                         text(epsilon));
}

Rational renyi_delta_up(std::span<const RenyiPoint> curve, const Rational& epsilon) {
  require_curve(curve);
  require_not_negative(epsilon, "epsilon");
  const ExponentRange range;
  Rational least = 1;
  for (const RenyiPoint& point : curve) {
    const Rational beta = point.order - 1;
    const Rational exponent = beta * (point.divergence - epsilon);
    const auto delta = [&](unsigned bits) {
      return exp(Enclosure(exponent, bits) + log_of_conversion(beta, bits));
    };
    if (point.divergence == 0) return 0;  // the two laws are one
    if (exponent > 64) continue;          // the rest is at least e^-1/order, so that this is above 1
    least = std::min(least, narrow_up(delta, 2 * kBits, kRefinementMax));
  }
  return least;
}

}  // namespace epsilog::accounting
