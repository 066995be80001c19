#include "epsilog/accounting/advanced_composition.hpp"

#include <algorithm>
#include <cmath>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/failure_probability.hpp"

namespace epsilog::accounting {
namespace {

constexpr unsigned kBits = 256;

Rational rounded_up(const Enclosure& value) {
  return MpfrNumber::rounded(value.high().rational(), kResultBits, MPFR_RNDU).rational();
}

void require_epsilon(const Rational& epsilon) {
  if (epsilon < 0) throw InvalidParameter("epsilon: " + text(epsilon) + " is negative");
}

void require_delta(const Rational& delta) {
  if (delta < 0 || delta > 1) throw InvalidParameter("delta: " + text(delta) + " is not between 0 and 1");
}

Rational sum_of_squares(std::span<const LossGroup> groups) {
  Rational sum;
  for (const LossGroup& group : groups) {
    sum += Rational(Integer(static_cast<unsigned long>(group.count))) * group.epsilon * group.epsilon;
  }
  return sum;
}

/// sum epsilon (e^epsilon - 1): of the loss' expectation, an upper bound.
Enclosure classic_drift(std::span<const LossGroup> groups, unsigned bits) {
  const Enclosure one(1UL, bits);
  Enclosure sum(0UL, bits);
  for (const LossGroup& group : groups) {
    sum += Enclosure(group.epsilon, bits) * (exp(Enclosure(group.epsilon, bits)) - one) * group.count;
  }
  return sum;
}

/// sum epsilon (e^epsilon - 1)/(e^epsilon + 1): the expectation of the loss of randomised responses.
Enclosure drift(std::span<const LossGroup> groups, unsigned bits) {
  const Enclosure one(1UL, bits);
  Enclosure sum(0UL, bits);
  for (const LossGroup& group : groups) {
    const Enclosure odds = exp(Enclosure(-group.epsilon, bits));
    sum += Enclosure(group.epsilon, bits) * (one - odds) / (one + odds) * group.count;
  }
  return sum;
}

/// Bits that 1 - e^-epsilon cancels for the smallest epsilon, and those of a logarithm near zero.
unsigned working_bits(std::span<const LossGroup> groups, const Rational& slack) {
  double lost = slack > 0 && slack < 1 ? -log2_estimate(1 - slack) : 0.0;
  for (const LossGroup& group : groups) {
    if (group.epsilon > 0) lost = std::max(lost, -log2_estimate(group.epsilon));
  }
  return kBits + static_cast<unsigned>(std::clamp(lost, 0.0, 65536.0));
}

/// sqrt(2 S logarithm).
Enclosure deviation(const Rational& squares, const Enclosure& logarithm) {
  return sqrt(Enclosure(2 * squares, logarithm.bits()) * logarithm);
}

/// sqrt(2 S ln(1/slack)), 0 < slack <= 1.
Enclosure plain_deviation(const Rational& squares, const Rational& slack, unsigned bits) {
  if (slack == 1) return {0UL, bits};
  return deviation(squares, -log(Enclosure(slack, bits)));
}

}  // namespace

std::optional<Rational> basic_epsilon(std::span<const LossGroup> groups, const Rational& delta) {
  require_groups(groups);
  require_delta(delta);
  if (total_delta(groups) > delta) return std::nullopt;
  return total_epsilon(groups);
}

std::optional<Rational> basic_delta(std::span<const LossGroup> groups, const Rational& epsilon) {
  require_groups(groups);
  require_epsilon(epsilon);
  if (total_epsilon(groups) > epsilon) return std::nullopt;
  return total_delta(groups);
}

std::optional<Rational> dwork_rothblum_vadhan_epsilon_up(std::span<const LossGroup> groups,
                                                         const Rational& delta) {
  require_groups(groups);
  require_delta(delta);
  const Rational slack = delta - total_delta(groups);
  if (slack <= 0) return std::nullopt;
  const ExponentRange range;
  const unsigned bits = working_bits(groups, slack);
  return rounded_up(classic_drift(groups, bits) + plain_deviation(sum_of_squares(groups), slack, bits));
}

std::optional<Rational> advanced_epsilon_up(std::span<const LossGroup> groups, const Rational& delta) {
  const std::optional<Rational> slack = remaining_delta_down(groups, delta);
  if (!slack) return std::nullopt;
  const Rational total = total_epsilon(groups);
  if (*slack == 0 || total == 0) return total;
  const ExponentRange range;
  const unsigned bits = working_bits(groups, *slack);
  const Rational squares = sum_of_squares(groups);
  const Enclosure expectation = drift(groups, bits);
  const Enclosure e = exp(Enclosure(1UL, bits));
  const Enclosure ratio = sqrt(Enclosure(squares, bits)) / Enclosure(*slack, bits);
  return std::min({total, rounded_up(expectation + deviation(squares, log(e + ratio))),
                   rounded_up(expectation + plain_deviation(squares, *slack, bits))});
}

Rational advanced_delta_up(std::span<const LossGroup> groups, const Rational& epsilon) {
  require_groups(groups);
  require_epsilon(epsilon);
  const ExponentRange range;
  Rational slack = epsilon >= total_epsilon(groups) ? 0 : 1;
  if (slack > 0) {
    const unsigned bits = working_bits(groups, 0);
    const Rational squares = sum_of_squares(groups);
    const Enclosure over = Enclosure(epsilon, bits) - drift(groups, bits);
    if (mpfr_sgn(over.low().get()) > 0) {
      // The logarithm that the deviation may hold.
      const Enclosure room = over * over / Enclosure(2 * squares, bits);
      slack = std::min(slack, rounded_up(exp(-room)));
      const Enclosure divisor = exp(room) - exp(Enclosure(1UL, bits));
      if (mpfr_sgn(divisor.low().get()) > 0) {
        slack = std::min(slack, rounded_up(sqrt(Enclosure(squares, bits)) / divisor));
      }
    }
  }
  return failure_probability_up(groups, slack);
}

std::optional<Rational> fully_adaptive_epsilon_up(std::span<const LossGroup> groups, const Rational& delta) {
  require_groups(groups);
  require_delta(delta);
  const Rational slack = delta - total_delta(groups);
  if (slack <= 0) return std::nullopt;
  const ExponentRange range;
  const unsigned bits = working_bits(groups, slack);
  const Rational squares = sum_of_squares(groups);
  return rounded_up(Enclosure(squares / 2, bits) + plain_deviation(squares, slack, bits));
}

}  // namespace epsilog::accounting
