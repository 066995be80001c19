// The stated flakiness, seen: noise drawn 10^5 times exceeds its tolerance as often as it should.
//
// Where the probability p is met exactly, both Chernoff bounds for the count must stay above 1e-14, else
// only the upper one. Below 100 counts are looked at, so a right calculator fails with probability
// below 1e-12 over seeds. The seeds are fixed (ChaCha20).
#include "epsilog/mechanisms/tolerance.hpp"
#include "support/catch.hpp"
#include "support/seeded_noise.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;

namespace {

constexpr int kTrials = 100'000;
constexpr double kCountFailure = 1e-14;

template <class Event>
int happened(Event event) {
  int count = 0;
  for (int trial = 0; trial < kTrials; ++trial) count += event() ? 1 : 0;
  return count;
}

void check_probability(int count, double p) {
  CAPTURE(count, p);
  CHECK(binomial_tail_bound(count, kTrials, p) > kCountFailure);
}
void check_at_most(int count, double p) {
  if (count > p * kTrials) check_probability(count, p);
}

struct Law {
  NoiseTolerance (*tolerance)(const Rational&, const Rational&, bool, std::uint64_t);
  double (SeededNoise::*draw)(double);
};
constexpr Law kLaws[] = {{laplace_tolerance_at, &SeededNoise::laplace},
                         {gaussian_tolerance_at, &SeededNoise::gaussian}};

}  // namespace

TEST_CASE("flakiness: one noise in a hundred passes the tolerance of 10^-2",
          "[mechanisms][tolerance][statistical]") {
  std::uint64_t seed = 3000;
  for (const Law& law : kLaws) {
    for (const double scale : {0.3, 1.0, 7.5}) {
      CAPTURE(seed, scale);
      SeededNoise noise(seed++);
      const NoiseTolerance t = law.tolerance(Rational(scale), 2, false, 1);
      const double tolerance = t.tolerance.get_d();
      const double complementary = t.complementary.get_d();
      check_probability(happened([&] { return std::abs((noise.*law.draw)(scale)) > tolerance; }), 0.01);
      check_probability(happened([&] { return std::abs((noise.*law.draw)(scale)) <= complementary; }), 0.01);
    }
  }
}

TEST_CASE("flakiness: an integer tolerance holds and one less does not",
          "[mechanisms][tolerance][statistical]") {
  std::uint64_t seed = 3100;
  for (const Law& law : kLaws) {
    for (const double scale : {0.3, 1.0, 1.4, 7.5}) {
      CAPTURE(seed, scale);
      SeededNoise noise(seed++);
      const double tolerance = law.tolerance(Rational(scale), 2, true, 1).tolerance.get_d();
      const auto passes = [&](double limit) {
        return happened([&] { return std::abs(std::round((noise.*law.draw)(scale))) > limit; });
      };
      check_at_most(passes(tolerance), 0.01);
      if (tolerance >= 1) CHECK(passes(tolerance - 1) > 0.01 * kTrials);
    }
  }
}

TEST_CASE("flakiness: five partitions together fail as seldom as stated",
          "[mechanisms][tolerance][statistical]") {
  std::uint64_t seed = 3200;
  for (const Law& law : kLaws) {
    CAPTURE(seed);
    SeededNoise noise(seed++);
    const NoiseTolerance t = law.tolerance(1, 1, false, 5);
    const double tolerance = t.tolerance.get_d();
    const double complementary = t.complementary.get_d();
    const auto any = [&](auto outside) {
      bool found = false;
      for (int partition = 0; partition < 5; ++partition) {
        if (outside(std::abs((noise.*law.draw)(1)))) found = true;
      }
      return found;
    };
    check_probability(happened([&] { return any([&](double x) { return x > tolerance; }); }), 0.1);
    check_probability(happened([&] { return any([&](double x) { return x <= complementary; }); }), 0.1);
  }
}

TEST_CASE("flakiness: a mean keeps its level, which the document's split of it does not",
          "[mechanisms][tolerance][mean][statistical]") {
  const MeanScenario scenario{.epsilon = 1,
                              .delta = 0,
                              .lower = 0,
                              .upper = 10,
                              .sum = 2675,
                              .count = 500,
                              .max_rows = 1,
                              .partitions = 1,
                              .flakiness = 3};
  constexpr double kCount = 500;
  constexpr double kSum = 2675 - 500 * 5;  // of distances from the midpoint
  SeededNoise noise(3300);
  const auto exceeds = [&](double tolerance) {
    return happened([&] {
      const double count = std::max(1.0, kCount + std::round(noise.laplace(2)));
      return std::abs((kSum + noise.laplace(10)) / count - kSum / kCount) > tolerance;
    });
  };
  const int kept = exceeds(mean_tolerance_up(scenario).get_d());
  check_at_most(kept, 1e-3);
  // "The overall flakiness is 10^-2k, so use k/2": both intervals at 10^-1.5, and either may fail.
  const double t = laplace_tolerance_at(2, Rational(3, 2), false, 1).tolerance.get_d();
  const double most = (kSum + 5 * t) / (kCount - std::ceil(t));
  const double least = (kSum - 5 * t) / (kCount + std::ceil(t));
  const double document = std::max(most - kSum / kCount, kSum / kCount - least);
  const int failures = exceeds(document);
  CAPTURE(kept, failures);
  CHECK(failures > 0.02 * kTrials);
  CHECK(binomial_tail_bound(failures, kTrials, 1e-3) < 1e-100);
}
