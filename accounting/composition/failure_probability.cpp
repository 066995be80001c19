#include "epsilog/accounting/failure_probability.hpp"

#include <algorithm>
#include <cmath>

#include "epsilog/accounting/certified_crossing.hpp"
#include "epsilog/accounting/checked_probability.hpp"

namespace epsilog::accounting {
namespace {

/// Products of more bits than this are enclosed, not written out.
constexpr std::uint64_t kExactBitsMax = 20'000;

Rational count_of(const LossGroup& group) {
  Rational count;
  mpz_set_ui(count.get_num_mpz_t(), group.count);
  return count;
}

bool all_pure(std::span<const LossGroup> groups) {
  return std::all_of(groups.begin(), groups.end(), [](const LossGroup& group) { return group.delta == 0; });
}

/// prod (1 - delta_i)^count_i as a fraction, if that is short.
std::optional<Rational> exact_survival(std::span<const LossGroup> groups) {
  std::uint64_t bits = 0;
  for (const LossGroup& group : groups) {
    if (group.delta == 0) continue;
    if (group.delta == 1) return Rational(0);
    bits += group.count * size_in_bits(group.delta);
    if (bits > kExactBitsMax) return std::nullopt;
  }
  Rational product = 1;
  for (const LossGroup& group : groups) {
    if (group.delta == 0) continue;
    const Rational one = 1 - group.delta;
    Rational power;
    mpz_pow_ui(power.get_num_mpz_t(), one.get_num_mpz_t(), group.count);
    mpz_pow_ui(power.get_den_mpz_t(), one.get_den_mpz_t(), group.count);
    product *= power;
  }
  return product;
}

/// Bits that 1 - survival cancels, and some.
unsigned working_bits(std::span<const LossGroup> groups) {
  double most = 0;
  for (const LossGroup& group : groups) {
    if (group.delta > 0)
      most = std::max({most, -log2_estimate(group.delta), -log2_estimate(1 - group.delta)});
  }
  return 256 + static_cast<unsigned>(std::min(most, 65536.0));
}

Enclosure survival(std::span<const LossGroup> groups, unsigned bits) {
  Enclosure logarithm(0UL, bits);
  for (const LossGroup& group : groups) {
    if (group.delta > 0) logarithm += log1p(Enclosure(-group.delta, bits)) * group.count;
  }
  return exp(logarithm);
}

}  // namespace

void require_groups(std::span<const LossGroup> groups) {
  if (groups.empty()) throw InvalidParameter("mechanisms: there is none");
  std::uint64_t all = 0;
  for (const LossGroup& group : groups) {
    if (group.epsilon < 0) throw InvalidParameter("epsilon: " + text(group.epsilon) + " is negative");
    if (group.delta < 0 || group.delta > 1) {
      throw InvalidParameter("delta: " + text(group.delta) + " is not between 0 and 1");
    }
    if (group.count < 1 || group.count > kComposedMax || (all += group.count) > kComposedMax) {
      throw InvalidParameter("count: must be from 1 to " + std::to_string(kComposedMax) + ", also in all");
    }
  }
}

Rational total_epsilon(std::span<const LossGroup> groups) {
  Rational sum;
  for (const LossGroup& group : groups) sum += count_of(group) * group.epsilon;
  return sum;
}

Rational total_delta(std::span<const LossGroup> groups) {
  Rational sum;
  for (const LossGroup& group : groups) sum += count_of(group) * group.delta;
  return std::min(sum, Rational(1));
}

Rational failure_probability_up(std::span<const LossGroup> groups, const Rational& rest) {
  require_groups(groups);
  if (all_pure(groups)) return rest;
  if (const auto exact = exact_survival(groups)) return 1 - (1 - rest) * *exact;
  const ExponentRange range;
  const unsigned bits = working_bits(groups);
  const Enclosure one(1UL, bits);
  const Enclosure result = one - (one - Enclosure(rest, bits)) * survival(groups, bits);
  return std::min(Rational(1),
                  MpfrNumber::rounded(result.high().rational(), kResultBits, MPFR_RNDU).rational());
}

std::optional<Rational> remaining_delta_down(std::span<const LossGroup> groups, const Rational& delta) {
  require_groups(groups);
  if (delta < 0 || delta > 1) throw InvalidParameter("delta: " + text(delta) + " is not between 0 and 1");
  if (all_pure(groups) || delta == 1) return delta;
  if (const auto exact = exact_survival(groups)) {
    if (*exact < 1 - delta) return std::nullopt;
    return 1 - (1 - delta) / *exact;
  }
  const ExponentRange range;
  const unsigned bits = working_bits(groups) + (delta > 0 ? size_in_bits(delta) : 0);
  const Enclosure one(1UL, bits);
  const Enclosure result = one - Enclosure(1 - delta, bits) / survival(groups, bits);
  if (mpfr_number_p(result.low().get()) == 0 || mpfr_sgn(result.low().get()) < 0) return std::nullopt;
  return MpfrNumber::rounded(result.low().rational(), kResultBits, MPFR_RNDD).rational();
}

}  // namespace epsilog::accounting
