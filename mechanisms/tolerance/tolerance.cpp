#include "epsilog/mechanisms/tolerance.hpp"

#include <algorithm>
#include <string>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/gaussian_calibration.hpp"
#include "noise_quantile.hpp"

namespace epsilog::mechanisms {
namespace {

constexpr unsigned kWorkingBits = 192;
/// Reached only if a tolerance were within 2^-3000 of a tie; the larger integer is then returned.
constexpr unsigned kWorkingBitsMax = 3072;
constexpr unsigned kResultBits = 128;
Rational rounded(const Rational& value, mpfr_rnd_t direction) {
  return MpfrNumber::rounded(value, kResultBits, direction).rational();
}

void require_positive(const Rational& value, const char* field) {
  if (value <= 0)
    throw InvalidParameter(std::string(field) + ": " + accounting::text(value) + " is not above 0");
}

void require_flakiness(const Rational& k) {
  require_positive(k, "flakiness");
  if (k > kFlakinessMax) {
    throw InvalidParameter("flakiness: 10^-" + accounting::text(k) + " is beyond 10^-" +
                           std::to_string(kFlakinessMax));
  }
}

void require_partitions(std::uint64_t partitions) {
  if (partitions == 0) throw InvalidParameter("partitions: 0; at least one figure is tested");
}

/// Noise of one law and scale, tested in several partitions together.
struct TestedNoise {
  NoiseLaw law;
  Rational scale;  ///< Laplace b, Gaussian sigma
  Rational k;
  std::uint64_t partitions;

  /// t of P(|noise| > t in any partition) = 10^-k.
  [[nodiscard]] Rational tolerance(unsigned bits, mpfr_rnd_t direction) const {
    const MpfrNumber level = level_of_each(level_of_flakiness(k, bits, direction), partitions, direction);
    return scale * two_sided_quantile(law, level, direction).rational();
  }
  /// t of P(|noise| <= t in any partition) = 10^-k: in one partition |noise| > t has the probability
  /// (1 - 10^-k)^(1/n), hence the n-th part of the level of 1 - 10^-k.
  [[nodiscard]] Rational complementary(unsigned bits, mpfr_rnd_t direction) const {
    const mpfr_rnd_t inner = direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    const MpfrNumber spared = level_of_complement(level_of_flakiness(k, bits, inner), direction);
    return scale * two_sided_quantile(law, level_over(spared, partitions, direction), direction).rational();
  }
  /// The integer f(tolerance) for a nondecreasing f, decided exactly.
  template <class Rounding>
  [[nodiscard]] Integer whole_tolerance(Rounding f) const {
    Integer upper;
    for (unsigned bits = kWorkingBits; bits <= kWorkingBitsMax; bits *= 2) {
      upper = f(tolerance(bits, MPFR_RNDU));
      if (f(tolerance(bits, MPFR_RNDD)) == upper) break;
    }
    return upper;
  }
};

/// Noise rounded to an integer exceeds t exactly if it passes t + 1/2, whichever way ties go.
Integer least_integer(const Rational& tolerance) {
  return std::max(Integer(0), accounting::ceil(tolerance - Rational(1, 2)));
}

NoiseTolerance tolerances(const TestedNoise& noise, bool integer) {
  const ExponentRange range;
  return {integer ? Rational(noise.whole_tolerance(least_integer))
                  : rounded(noise.tolerance(kWorkingBits, MPFR_RNDU), MPFR_RNDU),
          rounded(noise.complementary(kWorkingBits, MPFR_RNDD), MPFR_RNDD)};
}

void require_gaussian(const Rational& epsilon, const Rational& delta) {
  require_positive(epsilon, "epsilon");
  require_positive(delta, "delta");
  if (delta >= 1) throw InvalidParameter("delta: " + accounting::text(delta) + " is not below 1");
}

// ------------------------------------------------------------------------------------------- mean

void require_mean(const MeanScenario& scenario) {
  require_positive(scenario.epsilon, "epsilon");
  if (scenario.delta < 0 || scenario.delta >= 1) {
    throw InvalidParameter("delta: " + accounting::text(scenario.delta) + " is not in [0, 1)");
  }
  if (scenario.lower >= scenario.upper) throw InvalidParameter("lower: must be below upper");
  if (scenario.count < 0 || scenario.count.get_den() != 1) {
    throw InvalidParameter("count: " + accounting::text(scenario.count) + " is not a number of rows");
  }
  if (scenario.sum < scenario.count * scenario.lower || scenario.sum > scenario.count * scenario.upper) {
    throw InvalidParameter("sum: " + accounting::text(scenario.sum) + " is not the sum of " +
                           accounting::text(scenario.count) + " values in [" +
                           accounting::text(scenario.lower) + ", " + accounting::text(scenario.upper) + "]");
  }
  if (scenario.max_rows == 0) throw InvalidParameter("max_rows: 0; a unit has at least one row");
  require_partitions(scenario.partitions);
  require_flakiness(scenario.flakiness);
}

Rational square_root_up(std::uint64_t n) {
  MpfrNumber root(kWorkingBits);
  mpfr_sqrt_ui(root.get(), n, MPFR_RNDU);
  return root.rational();
}

/// The noise of the count. That of the sum is the same, stretched by half the width of the range.
TestedNoise count_noise(const MeanScenario& scenario) {
  const Rational rows(Integer(scenario.max_rows));
  // Either noise outside its interval spoils the mean, so the two share the level as two partitions do.
  constexpr std::uint64_t parts = 2;
  if (scenario.delta == 0) {
    const Rational l1 = rows * Integer(scenario.partitions);
    return {NoiseLaw::laplace, l1 / (scenario.epsilon / 2), scenario.flakiness, parts};
  }
  const Rational l2 = rows * square_root_up(scenario.partitions);
  return {NoiseLaw::gaussian, gaussian_sigma_up(scenario.epsilon / 2, scenario.delta / 2, l2),
          scenario.flakiness, parts};
}

/// A rectangle of normalised sums and counts that can come out, counts at least 1.
struct Box {
  Rational sum_least;
  Rational sum_most;
  Rational count_least;
  Rational count_most;

  /// A quotient is monotone in either argument, so it is extreme at a corner; which one depends on the
  /// sign of the sum: a negative one is least over the *least* count.
  [[nodiscard]] Rational least_mean() const {
    return sum_least / (sum_least >= 0 ? count_most : count_least);
  }
  [[nodiscard]] Rational most_mean() const { return sum_most / (sum_most >= 0 ? count_least : count_most); }
};

/// E max(0, noise): b/2 of the Laplace law, sigma/sqrt(2 pi) of the normal one, and 1/sqrt(2 pi) < 2/5.
Rational expected_excess_up(const TestedNoise& noise) {
  return noise.scale * (noise.law == NoiseLaw::laplace ? Rational(1, 2) : Rational(2, 5));
}

Box reachable(const MeanScenario& scenario, const Rational& midpoint, const Rational& half_width) {
  const TestedNoise noise = count_noise(scenario);
  const Rational sum = scenario.sum - scenario.count * midpoint;
  const Rational sum_reach = half_width * noise.tolerance(kWorkingBits, MPFR_RNDU);
  const Rational count_reach(noise.whole_tolerance([](const Rational& t) { return accounting::ceil(t); }));
  return {sum - sum_reach, sum + sum_reach, std::max(Rational(1), Rational(scenario.count - count_reach)),
          std::max(Rational(1), Rational(scenario.count + count_reach))};
}

}  // namespace

NoiseTolerance laplace_tolerance(const Rational& epsilon, const Rational& l1, const Rational& flakiness_k,
                                 bool integer, std::uint64_t partitions) {
  require_positive(epsilon, "epsilon");
  require_positive(l1, "l1");
  return laplace_tolerance_at(l1 / epsilon, flakiness_k, integer, partitions);
}

NoiseTolerance gaussian_tolerance(const Rational& epsilon, const Rational& delta, const Rational& l2,
                                  const Rational& k, bool integer, std::uint64_t partitions) {
  require_gaussian(epsilon, delta);
  require_positive(l2, "l2");
  require_flakiness(k);
  require_partitions(partitions);
  NoiseTolerance result =
      gaussian_tolerance_at(gaussian_sigma_up(epsilon, delta, l2), k, integer, partitions);
  // gaussian_sigma_up lies above the ideal sigma by less than 2^-99 of it.
  result.complementary = rounded(result.complementary * (1 - accounting::power_of_two(-99)), MPFR_RNDD);
  return result;
}

NoiseTolerance laplace_tolerance_at(const Rational& scale, const Rational& flakiness_k, bool integer,
                                    std::uint64_t partitions) {
  require_positive(scale, "scale");
  require_flakiness(flakiness_k);
  require_partitions(partitions);
  return tolerances({NoiseLaw::laplace, scale, flakiness_k, partitions}, integer);
}

NoiseTolerance gaussian_tolerance_at(const Rational& sigma, const Rational& flakiness_k, bool integer,
                                     std::uint64_t partitions) {
  require_positive(sigma, "sigma");
  require_flakiness(flakiness_k);
  require_partitions(partitions);
  return tolerances({NoiseLaw::gaussian, sigma, flakiness_k, partitions}, integer);
}

Rational mean_tolerance_up(const MeanScenario& scenario) {
  require_mean(scenario);
  const ExponentRange range;
  const Rational midpoint = (scenario.lower + scenario.upper) / 2;
  const Rational mean = scenario.count == 0 ? midpoint : Rational(scenario.sum / scenario.count);
  const Box box = reachable(scenario, midpoint, (scenario.upper - scenario.lower) / 2);
  const auto clamped = [&](const Rational& value) {
    return std::clamp(value, scenario.lower, scenario.upper);
  };
  const Rational least = clamped(midpoint + box.least_mean());
  const Rational most = clamped(midpoint + box.most_mean());
  return rounded(std::max(Rational(mean - least), Rational(most - mean)), MPFR_RNDU);
}

std::optional<Rational> mean_complementary_down(const MeanScenario& scenario) {
  require_mean(scenario);
  const Rational midpoint = (scenario.lower + scenario.upper) / 2;
  const Rational mean = scenario.count == 0 ? midpoint : Rational(scenario.sum / scenario.count);
  const Rational room = std::min<Rational>(mean - scenario.lower, scenario.upper - mean);
  if (room == 0) return std::nullopt;

  const ExponentRange range;
  TestedNoise noise = count_noise(scenario);
  noise.partitions = 1;  // the sum's noise alone parts the means
  Rational parted = (scenario.upper - scenario.lower) / 2 * noise.complementary(kWorkingBits, MPFR_RNDD);
  // The computed sigma lies above the ideal one by less than 2^-98 of it.
  if (noise.law == NoiseLaw::gaussian) parted *= 1 - accounting::power_of_two(-98);
  const Rational count_up =
      std::max(Rational(1), scenario.count) + Rational(1, 2) + expected_excess_up(noise);
  // Below `room` the clamp neither adds to the event nor takes from it.
  const Rational below_room = room * (1 - accounting::power_of_two(-100));
  return rounded(std::min<Rational>(parted / count_up, below_room), MPFR_RNDD);
}

}  // namespace epsilog::mechanisms
