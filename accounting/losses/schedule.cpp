#include "schedule.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {
namespace {

constexpr std::uint64_t kUsesMax = std::uint64_t{1} << 40;
const Rational kDiscreteGaussianScaleMax = 10'000;
const Rational kDiscreteLaplaceSensitivityMax = 1'000'000'000;
/// Longer exact numbers are rounded to this many bits.
constexpr unsigned kNumberBits = 256;
constexpr unsigned kExactBitsMax = 4096;
/// An excess beyond it is left to the pure laws: e^64 times a delta says nothing.
constexpr long kExcessMax = 64;

Rational integer(std::uint64_t value) {
  return Integer(static_cast<unsigned long>(value));
}

void check(const ComposedLaw& law, const std::string& name) {
  using Kind = ComposedLaw::Kind;
  if (law.count < 1 || law.count > kUsesMax) {
    throw InvalidParameter(name + " count: " + std::to_string(law.count) + " is not between 1 and 2^40");
  }
  if (law.kind == Kind::pure) return require_positive(law.epsilon, name + " epsilon");
  if (law.kind == Kind::approximate) {
    if (law.epsilon < 0) throw InvalidParameter(name + " epsilon: " + text(law.epsilon) + " is negative");
    if (law.delta < 0 || law.delta > 1) {
      throw InvalidParameter(name + " delta: " + text(law.delta) + " is not between 0 and 1");
    }
    if (law.epsilon == 0 && law.delta == 0) throw InvalidParameter(name + ": epsilon and delta are both 0");
    return;
  }
  require_positive(law.scale, name + " scale");
  require_positive(law.sensitivity, name + " sensitivity");
  if ((law.kind == Kind::snapping || law.kind == Kind::gaussian) && law.extra < 0) {
    throw InvalidParameter(name + " extra: " + text(law.extra) + " is negative");
  }
  if (law.kind == Kind::gaussian && (law.delta < 0 || law.delta >= 1)) {
    throw InvalidParameter(name + " delta: " + text(law.delta) + " is not in [0, 1)");
  }
  const bool discrete = law.kind == Kind::discrete_laplace || law.kind == Kind::discrete_gaussian;
  if (discrete && law.sensitivity.get_den() != 1) {
    throw InvalidParameter(name + " sensitivity: " + text(law.sensitivity) + " is no integer");
  }
  if (law.kind == Kind::discrete_gaussian && law.scale > kDiscreteGaussianScaleMax) {
    throw InvalidParameter(name + " scale: discrete Gaussian noise is composed up to scale 10000, not " +
                           text_down(law.scale, 6));
  }
  if (law.kind == Kind::discrete_laplace && law.sensitivity > kDiscreteLaplaceSensitivityMax) {
    throw InvalidParameter(name + " sensitivity: discrete Laplace noise is composed up to 10^9, not " +
                           text_down(law.sensitivity, 6));
  }
}

Rational shortened(const Rational& value, Side side) {
  if (size_in_bits(value) <= kExactBitsMax) return value;
  return MpfrNumber::rounded(value, kNumberBits, side == Side::up ? MPFR_RNDU : MPFR_RNDD).rational();
}

/// product of (1 - delta)^count, rounded to the side unless it is short.
Rational finite_mass(const Schedule& schedule, Side side) {
  const mpfr_rnd_t direction = side == Side::up ? MPFR_RNDU : MPFR_RNDD;
  Rational product = 1;
  for (const Schedule::Entry& entry : schedule.entries) {
    const Rational finite = 1 - entry.profile.infinite_mass();
    if (finite == 1) continue;
    if (finite == 0) return 0;
    if (entry.count * size_in_bits(finite) <= kExactBitsMax) {
      for (std::uint64_t use = 0; use < entry.count; ++use) product *= finite;
    } else {
      MpfrNumber power = MpfrNumber::rounded(finite, kNumberBits, direction);
      mpfr_pow_ui(power.get(), power.get(), entry.count, direction);
      product *= power.rational();
    }
    product = shortened(product, side);
  }
  return product;
}

/// By how much the laws of the kind together exceed those that stand for them.
Rational excess_up(std::span<const ComposedLaw> laws, ComposedLaw::Kind kind) {
  Rational sum = 0;
  for (const ComposedLaw& law : laws) {
    if (law.kind != kind) continue;
    sum = shortened(sum + integer(law.count) * law.extra, Side::up);
  }
  return sum;
}

/// Snapping as Laplace noise, whose excess is counted apart, or as what it is at least: pure.
ComposedLaw substitute_law(ComposedLaw law, bool by_laplace) {
  if (law.kind != ComposedLaw::Kind::snapping) return law;
  law.kind = by_laplace ? ComposedLaw::Kind::laplace : ComposedLaw::Kind::pure;
  law.epsilon = law.sensitivity / law.scale + law.extra;
  return law;
}

}  // namespace

Schedule gather_schedule(std::span<const ComposedLaw> laws, Side side) {
  if (laws.empty()) throw InvalidParameter("laws: there is none to compose");
  std::map<PrivacyProfile, std::uint64_t> counts;
  Schedule schedule;
  Rational mu_squared = 0;
  std::uint64_t uses = 0;
  const Rational of_gaussian = excess_up(laws, ComposedLaw::Kind::gaussian);
  if (of_gaussian > kExcessMax) throw InvalidParameter("laws: Gaussian extras of more than 64 together");
  const Rational of_snapping = excess_up(laws, ComposedLaw::Kind::snapping);
  const bool by_laplace = of_gaussian + of_snapping <= kExcessMax;
  if (side == Side::up) schedule.excess = by_laplace ? Rational(of_gaussian + of_snapping) : of_gaussian;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const std::string name = "law " + std::to_string(i + 1);
    check(laws[i], name);
    if (side == Side::down && (laws[i].kind == ComposedLaw::Kind::snapping || laws[i].extra > 0)) continue;
    const PrivacyProfile profile(substitute_law(laws[i], by_laplace));
    if (profile.shape() == PrivacyProfile::Shape::gaussian) {
      mu_squared = shortened(mu_squared + integer(laws[i].count) * profile.mu_squared(), side);
      schedule.outright += integer(laws[i].count) * laws[i].delta;
      continue;
    }
    uses += laws[i].count;
    if (uses > kUsesMax) throw InvalidParameter(name + " count: more than 2^40 uses together");
    counts[profile] += laws[i].count;
  }

  schedule.largest_loss = 0;
  for (const auto& [profile, count] : counts) {
    schedule.entries.push_back({profile, count});
    const auto largest = profile.largest_loss();
    if (!largest) schedule.largest_loss.reset();
    if (schedule.largest_loss) {
      schedule.largest_loss = shortened(*schedule.largest_loss + *largest * integer(count), Side::up);
    }
  }
  if (mu_squared > 0) {
    schedule.entries.push_back({PrivacyProfile::gaussian(mu_squared), 1});
    schedule.largest_loss.reset();
  }
  schedule.infinite_down = 1 - finite_mass(schedule, Side::up);
  schedule.infinite_up = 1 - finite_mass(schedule, Side::down);
  return schedule;
}

}  // namespace epsilog::accounting
