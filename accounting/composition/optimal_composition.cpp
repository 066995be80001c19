#include "epsilog/accounting/optimal_composition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/failure_probability.hpp"
#include "response_law.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 192;
constexpr unsigned kGridBits = 256;
constexpr double kTotalMax = 1e8;

/// Equal epsilons together, and none that is zero.
std::vector<LossGroup> pure_parts(std::span<const LossGroup> groups) {
  std::map<Rational, std::uint64_t> counts;
  for (const LossGroup& group : groups) {
    if (group.epsilon > 0) counts[group.epsilon] += group.count;
  }
  std::vector<LossGroup> parts;
  for (const auto& [epsilon, count] : counts) parts.push_back({epsilon, 0, count});
  return parts;
}

/// Bits that the probability of a class needs beyond those of the result.
unsigned guard_bits(const Rational& total) {
  return 32 + static_cast<unsigned>(std::max(0.0, log2_estimate(total + 1)));
}

OptimalMethod chosen_method(std::span<const LossGroup> parts, OptimalMethod requested) {
  if (requested == OptimalMethod::grid) return requested;
  if (sign_classes(parts) <= kSignClassesMax) return OptimalMethod::sign_classes;
  if (requested == OptimalMethod::automatic) return OptimalMethod::grid;
  throw InvalidParameter("method: there are more than 65536 sign classes");
}

double double_of(const Rational& value) {
  return value > 0 ? std::exp2(std::min(log2_estimate(value), 1000.0)) : 0.0;
}

/// The least delta of the pure parts.
Rational pure_delta_up(std::span<const LossGroup> parts, const Rational& epsilon, const Rational& total,
                       OptimalMethod method) {
  if (epsilon >= total) return 0;
  const unsigned guard = guard_bits(total);
  if (parts.size() == 1 && method == OptimalMethod::automatic) {
    const auto delta = [&](unsigned bits) {
      const LawWindow window{epsilon, power_of_two(-static_cast<long>(bits)), true};
      return equal_responses(parts.front(), window, bits + guard).delta(epsilon);
    };
    return std::min(Rational(1), narrow_up(delta, kBits, kRefinementMax));
  }
  if (chosen_method(parts, method) == OptimalMethod::sign_classes) {
    const auto delta = [&](unsigned bits) { return sign_class_law(parts, bits + guard).delta(epsilon); };
    return std::min(Rational(1), narrow_up(delta, kBits, kRefinementMax));
  }
  const LossLaw law = grid_law(parts, {double_of(epsilon), 0}, kGridBits);
  return std::min(
      Rational(1),
      MpfrNumber::rounded(law.delta(epsilon).high().rational(), kResultBits, MPFR_RNDU).rational());
}

/// A loss that the least epsilon is probably above, as if the law were normal: a guess that is checked.
Rational probably_below(const LossGroup& part, double log2_inverse) {
  const double epsilon = double_of(part.epsilon);
  const double count = static_cast<double>(part.count);
  const double mean = count * epsilon * std::tanh(epsilon / 2);
  const double deviation = std::sqrt(count) * epsilon / std::cosh(epsilon / 2);
  constexpr double kCautious = 0.75;
  const double guess = mean + kCautious * deviation * std::sqrt(2 * std::numbers::ln2 * log2_inverse);
  return std::isfinite(guess) ? Rational(guess) : Rational(0);
}

std::optional<Rational> equal_epsilon_up(const LossGroup& part, const Rational& delta, double log2_inverse,
                                         unsigned bits) {
  const Rational cut = delta * power_of_two(-static_cast<long>(kBits));
  if (const Rational guess = probably_below(part, log2_inverse); guess > 0) {
    const LossLaw tail = equal_responses(part, {guess, cut, false}, bits);
    if (tail.delta(guess).certainly_above(delta)) return tail.epsilon_up(delta);
  }
  return equal_responses(part, {0, cut, false}, bits).epsilon_up(delta);
}

std::optional<Rational> pure_epsilon_up(std::span<const LossGroup> parts, const Rational& delta,
                                        const Rational& total, OptimalMethod method) {
  const double log2_inverse = -log2_estimate(delta);
  const unsigned bits = kBits + guard_bits(total) + static_cast<unsigned>(std::min(log2_inverse, 60000.0));
  if (parts.size() == 1 && method == OptimalMethod::automatic) {
    return equal_epsilon_up(parts.front(), delta, log2_inverse, bits);
  }
  if (chosen_method(parts, method) == OptimalMethod::sign_classes)
    return sign_class_law(parts, bits).epsilon_up(delta);
  return grid_law(parts, {0, log2_inverse * std::numbers::ln2}, kGridBits).epsilon_up(delta);
}

Rational checked_total(std::span<const LossGroup> groups) {
  require_groups(groups);
  Rational total = total_epsilon(groups);
  if (total > Rational(kTotalMax)) throw InvalidParameter("epsilon: the sum is above 100000000");
  return total;
}

}  // namespace

Rational optimal_delta_up(std::span<const LossGroup> groups, const Rational& epsilon, OptimalMethod method) {
  const Rational total = checked_total(groups);
  if (epsilon < 0) throw InvalidParameter("epsilon: " + text(epsilon) + " is negative");
  const ExponentRange range;
  return failure_probability_up(groups, pure_delta_up(pure_parts(groups), epsilon, total, method));
}

std::optional<Rational> optimal_epsilon_up(std::span<const LossGroup> groups, const Rational& delta,
                                           OptimalMethod method) {
  const Rational total = checked_total(groups);
  const ExponentRange range;
  const std::optional<Rational> remaining = remaining_delta_down(groups, delta);
  if (!remaining) return std::nullopt;
  if (*remaining >= 1 || total == 0) return Rational(0);
  if (*remaining == 0) return total;
  const auto found = pure_epsilon_up(pure_parts(groups), *remaining, total, method);
  return found ? std::min(*found, total) : total;
}

}  // namespace epsilog::accounting
