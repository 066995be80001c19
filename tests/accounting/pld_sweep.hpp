// Random schedules of all mechanisms, and what is known of the figure of pld for each of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "epsilog/accounting/accountant.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"

namespace epsilog::test {

using accounting::ComposedLaw;
using accounting::Integer;
using accounting::Rational;

/// The same numbers on every machine (SplitMix64).
class SweepRandom final {
 public:
  explicit SweepRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(below(1U << 30)) * 0x1p-30;
  }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }

 private:
  std::uint64_t state_;
};

/// The number of four decimal digits next below.
inline Rational four_digits(double value) {
  const int power = static_cast<int>(std::floor(std::log10(value))) - 3;
  const auto digits = static_cast<unsigned long>(value / std::pow(10, power));
  return Rational(Integer(std::max(1UL, digits))) * accounting::power_of_ten(power);
}

inline constexpr std::uint64_t kSweepSeed = 20261122;
inline constexpr std::uint64_t kSweepSize = 1200;
inline constexpr std::array kSweepKinds = {"laplace",
                                           "gaussian",
                                           "discrete-laplace",
                                           "discrete-gaussian",
                                           "snapping, exact",
                                           "snapping, with a bound",
                                           "pure",
                                           "approximate",
                                           "mixtures"};
inline constexpr std::size_t kSweepMixtures = kSweepKinds.size() - 1;
inline constexpr std::array<std::uint64_t, 3> kSweepCounts = {1'000, 100'000, 1'000'000};

struct SweptSchedule {
  std::size_t kind = 0;   ///< of kSweepKinds
  std::size_t range = 0;  ///< of kSweepCounts: no more uses than that together
  Rational delta;
  std::vector<ComposedLaw> laws;

  [[nodiscard]] std::uint64_t uses() const {
    std::uint64_t sum = 0;
    for (const ComposedLaw& law : laws) sum += law.count;
    return sum;
  }
};

/// `count` uses whose loss has about that standard deviation together.
inline ComposedLaw swept_law(std::size_t kind, std::uint64_t count, double deviation, const Rational& delta,
                             SweepRandom& random) {
  using Kind = ComposedLaw::Kind;
  ComposedLaw law;
  law.count = count;
  const double loss = deviation / std::sqrt(static_cast<double>(count));
  const auto noise = [&](Kind of, const Rational& sensitivity) {
    law.kind = of;
    law.sensitivity = sensitivity;
    law.scale = four_digits(sensitivity.get_d() / loss);
    // On a finer grid the lower bound would take too long.
    const Rational finest =
        Integer(static_cast<unsigned long>(50'000 / std::sqrt(static_cast<double>(count))));
    if (of == Kind::discrete_gaussian)
      law.scale = std::clamp<Rational>(law.scale, 1, std::min<Rational>(finest, 1'000));
  };
  const Rational whole = Integer(1 + random.below(4));
  switch (kind) {
    case 0:
      noise(Kind::laplace, four_digits(random.log_uniform(0.5, 50)));
      break;
    case 1:
      noise(Kind::gaussian, four_digits(random.log_uniform(0.5, 50)));
      break;
    case 2:
      noise(Kind::discrete_laplace, whole);
      break;
    case 3:
      noise(Kind::discrete_gaussian, whole);
      break;
    case 4:
      noise(Kind::snapping, whole);
      break;
    case 5:
      noise(Kind::snapping, whole);
      // (18 B/lambda + 10) 2^-53.
      law.extra = (18 * four_digits(random.log_uniform(10, 1'000)) + 10) * accounting::power_of_two(-53);
      break;
    default:
      law.kind = kind == 6 ? Kind::pure : Kind::approximate;
      law.epsilon = four_digits(loss);
      if (kind == 7)
        law.delta = four_digits(delta.get_d() * random.log_uniform(1e-4, 0.1) / static_cast<double>(count));
  }
  return law;
}

/// Of each twelve, one of each kind alone, of one or up to three scales, and four mixtures of two to four
/// laws, at most one of them Gaussian in eight (each costs a second).
inline SweptSchedule swept(std::uint64_t index) {
  SweepRandom random(kSweepSeed + 1'000'003 * index);
  SweptSchedule schedule;
  schedule.kind = std::min<std::size_t>(index % 12, kSweepMixtures);
  schedule.range = index / 12 % kSweepCounts.size();
  schedule.delta = four_digits(random.log_uniform(1e-12, 1e-2));
  const bool mixture = schedule.kind == kSweepMixtures;
  const std::uint64_t laws = mixture ? 2 + random.below(3) : random.below(2) == 0 ? 1 : 1 + random.below(3);
  const bool gaussian = mixture && random.below(8) == 0;
  const double deviation = random.log_uniform(0.3, 6);
  const double most = static_cast<double>(kSweepCounts[schedule.range]);
  const double least = schedule.range == 0 ? 1 : static_cast<double>(kSweepCounts[schedule.range - 1]);
  const auto uses = static_cast<std::uint64_t>(random.log_uniform(least, most));
  for (std::uint64_t i = 0; i < laws; ++i) {
    std::size_t kind = schedule.kind;
    if (mixture)
      kind = gaussian && i == 0 ? 1 : std::array<std::size_t, 7>{0, 2, 3, 4, 5, 6, 7}[random.below(7)];
    const std::uint64_t share =
        i == 0 ? uses / laws : static_cast<std::uint64_t>(random.log_uniform(1, most / 5));
    schedule.laws.push_back(
        swept_law(kind, std::clamp<std::uint64_t>(share, 1, static_cast<std::uint64_t>(most / 4)),
                  deviation * random.uniform(0.4, 1), schedule.delta, random));
  }
  return schedule;
}

inline std::vector<accounting::KnownLoss> known_losses(const std::vector<ComposedLaw>& laws) {
  std::vector<accounting::KnownLoss> losses;
  for (const ComposedLaw& law : laws) losses.push_back(accounting::known_loss(law));
  return losses;
}

inline std::optional<Rational> swept_epsilon(accounting::Accountant accountant,
                                             const SweptSchedule& schedule) {
  return accounting::composed_epsilon_up(accountant, known_losses(schedule.laws), schedule.delta);
}

/// No smaller epsilon holds: for snapping, of Laplace noise with the same scale, which a grid and a clamp as
/// fine and as far as can be come up to.
inline Rational swept_epsilon_down(const SweptSchedule& schedule) {
  std::vector<ComposedLaw> ideal = schedule.laws;
  for (ComposedLaw& law : ideal) {
    if (law.kind != ComposedLaw::Kind::snapping) continue;
    law.kind = ComposedLaw::Kind::laplace;
    law.extra = 0;
  }
  return accounting::pld_epsilon_down(ideal, schedule.delta).value_or(0);
}

/// What is promised of epsilon over the lower bound.
inline Rational promised_excess(const SweptSchedule& schedule) {
  return schedule.uses() <= 100'000 ? Rational(5, 10'000) : Rational(15, 10'000);
}

}  // namespace epsilog::test
