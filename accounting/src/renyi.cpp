#include "epsilog/accounting/renyi.hpp"

#include <algorithm>
#include <cmath>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 176;

void require_not_negative(const Rational& value, const char* name) {
  if (value < 0) throw InvalidParameter(std::string(name) + ": " + text(value) + " is negative");
}

void require_order(const Rational& order) {
  if (order <= 1) throw InvalidParameter("order: " + text(order) + " is not above 1");
}

Rational rounded_up(const Rational& value) {
  return MpfrNumber::rounded(value, kResultBits, MPFR_RNDU).rational();
}

/// most + ln(part)/(order - 1), part <= 1: what the divergence lacks of the pure loss.
Rational below_pure_loss(const Rational& most, const Rational& order, const Enclosed& part) {
  const auto divergence = [&](unsigned bits) {
    return Enclosure(most, bits) + log(part(bits)) / Enclosure(order - 1, bits);
  };
  const ExponentRange range;
  return narrow_up(divergence,
                   kBits + 2 * static_cast<unsigned>(std::clamp(-log2_estimate(most), 0.0, 30000.0)), 65536);
}

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

Rational divergence_up(const ComposedLaw& law, const Rational& order) {
  switch (law.kind) {
    case ComposedLaw::Kind::laplace:
      return renyi_of_laplace_up(law.scale, law.sensitivity, order);
    case ComposedLaw::Kind::discrete_laplace:
      return renyi_of_discrete_laplace_up(law.scale, floor(law.sensitivity), order);
    case ComposedLaw::Kind::gaussian:
    case ComposedLaw::Kind::discrete_gaussian:
      return renyi_of_gaussian(law.scale, law.sensitivity, order);
    case ComposedLaw::Kind::pure:
    case ComposedLaw::Kind::approximate:
      break;
  }
  return renyi_of_pure_up(law.epsilon, order);
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
  const Rational t = sensitivity / scale;
  const Rational odd = 2 * order - 1;
  return below_pure_loss(t, order, [&](unsigned bits) {
    return (Enclosure(order, bits) + Enclosure(order - 1, bits) * exp_of(-odd * t, bits)) /
           Enclosure(odd, bits);
  });
}

Rational renyi_of_discrete_laplace_up(const Rational& scale, const Integer& distance, const Rational& order) {
  require_positive(scale, "scale");
  require_not_negative(distance, "distance");
  require_order(order);
  if (distance == 0) return 0;
  const Rational odd = 2 * order - 1;
  return below_pure_loss(distance / scale, order, [&](unsigned bits) {
    const Enclosure one(1UL, bits);
    const Enclosure q = exp_of(-1 / scale, bits);
    const Enclosure ends = one + exp_of(-odd * distance / scale, bits);
    return (ends + (one - q) * inner_sum(odd / scale, distance, bits)) / (one + q);
  });
}

Rational renyi_of_pure_up(const Rational& epsilon, const Rational& order) {
  require_not_negative(epsilon, "epsilon");
  require_order(order);
  if (epsilon == 0) return 0;
  return below_pure_loss(epsilon, order, [&](unsigned bits) {
    const Enclosure one(1UL, bits);
    return (one + exp_of((1 - 2 * order) * epsilon, bits)) / (one + exp_of(-epsilon, bits));
  });
}

RenyiCurve renyi_curve_up(const ComposedLaw& law) {
  if (law.count < 1) throw InvalidParameter("count: must be at least 1");
  const bool discrete =
      law.kind == ComposedLaw::Kind::discrete_laplace || law.kind == ComposedLaw::Kind::discrete_gaussian;
  if (discrete && law.sensitivity.get_den() != 1) {
    throw InvalidParameter("sensitivity: " + text(law.sensitivity) +
                           " is no integer, which discrete noise needs");
  }
  const Rational count(Integer(static_cast<unsigned long>(law.count)));
  RenyiCurve curve;
  for (const Rational& order : renyi_orders()) {
    curve.push_back({order, rounded_up(count * divergence_up(law, order))});
  }
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
    const Rational beta = point.order - 1;
    const Enclosure log_part =
        log(Enclosure(point.order, bits) * Enclosure(delta, bits)) / Enclosure(beta, bits);
    const Enclosure epsilon = Enclosure(point.divergence, bits) - log_part - log1p(Enclosure(1 / beta, bits));
    const Rational bound = rounded_up(epsilon.high().rational());
    if (!least || bound < *least) least = bound;
  }
  return std::max(*least, Rational(0));
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
