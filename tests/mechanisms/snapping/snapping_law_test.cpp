// The drawn law against exact output probabilities.
//
// For each output, with exact probability q and n draws, the count is binomial, so by Chernoff
// P(|count/n - q| deviates as far as seen) <= 2 exp(-n KL(count/n || q)). A cell fails when that bound
// is below 1e-15; fewer than 1,000 cells and matchers are looked at, so a correct mechanism fails with
// probability below 1e-12 over seeds. The seeds are fixed (ChaCha20).
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "epsilog/testing/noisy_matchers.hpp"
#include "support/catch.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using epsilog::accounting::parse_rational;
using epsilog::ledger::Transaction;

namespace {

constexpr std::size_t kDraws = 40'000;
constexpr double kCellFailure = 1e-15;

double passes(double distance, double lambda) {  // P(noise >= distance)
  return distance >= 0 ? std::exp(-distance / lambda) / 2 : 1 - std::exp(distance / lambda) / 2;
}

double divergence(double seen, double expected) {
  const auto part = [](double a, double b) { return a == 0 ? 0 : a * std::log(a / b); };
  return part(seen, expected) + part(1 - seen, 1 - expected);
}

void check_law(const SnappingMechanism::Options& options, const Rational& answer, BitSource& bits) {
  const SnappingMechanism mechanism(options);
  const auto& p = mechanism.parameters();
  Transaction transaction;
  const std::vector<Rational> answers(kDraws, answer);
  std::map<Rational, std::size_t> counts;
  const auto release = mechanism.release(answers, transaction.receipt(p.charged), bits);
  const auto& values = Transaction::opened(release);
  for (const Rational& value : values) ++counts[value];

  // What a user would ask, before the finer question: none too far, and not all bare.
  using epsilog::testing::AddedNoise;
  using epsilog::testing::Flakiness;
  const AddedNoise noise = AddedNoise::released_by(mechanism);
  CHECK_THAT(values, epsilog::testing::NoisyEquals(answer, noise, Flakiness::ten_to_the_minus(15)));
  CHECK_THAT(values, epsilog::testing::IsNoisy(answer, noise, Flakiness::ten_to_the_minus(15)));

  const double grid = p.grid.get_d();
  const double lambda = p.scale.get_d();
  const double y = Rational(answer - p.centre).get_d();
  const long last = epsilog::accounting::ceil(p.bound / p.grid).get_si();
  std::size_t accounted = 0;
  for (long k = -last; k <= last; ++k) {
    Rational output = p.grid * k;
    if (k == last) output = p.bound;
    if (k == -last) output = -p.bound;
    const double index = static_cast<double>(k);
    const double reached = k == -last ? 1 : passes((index - 0.5) * grid - y, lambda);
    const double passed = k == last ? 0 : passes((index + 0.5) * grid - y, lambda);
    const std::size_t count = counts[p.centre + output];
    accounted += count;
    const double seen = static_cast<double>(count) / static_cast<double>(kDraws);
    CAPTURE(k, count, reached - passed);
    CHECK(2 * std::exp(-static_cast<double>(kDraws) * divergence(seen, reached - passed)) > kCellFailure);
  }
  CHECK(accounted == kDraws);
}

SnappingMechanism::Options law_options(Arithmetic arithmetic) {
  return {.epsilon = Epsilon::parse_down("0.3"),
          .sensitivity = 1,
          .lower = -20,
          .upper = 22,
          .arithmetic = arithmetic};
}

}  // namespace

TEST_CASE("law: releases follow the exact output probabilities", "[mechanisms][snapping][statistical]") {
  std::uint64_t seed = 1000;
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    for (const char* answer : {"0", "22", "-20", "10/3", "2", "1.999"}) {
      CAPTURE(answer, seed);
      epsilog::test::SeededBits bits(seed++);
      check_law(law_options(arithmetic), parse_rational(answer, "answer"), bits);
    }
  }
}

TEST_CASE("law: binary64 precision draws the same law", "[mechanisms][snapping][statistical]") {
  auto options = law_options(Arithmetic::mpfr);
  options.precision.bits = 53;
  epsilog::test::SeededBits bits(2000);
  check_law(options, Rational(5, 3), bits);
}

TEST_CASE("law: the system's randomness gives it too", "[mechanisms][snapping][statistical]") {
  SystemBits bits;
  check_law(law_options(Arithmetic::mpfr), Rational(5, 3), bits);
  check_law(law_options(Arithmetic::exact), Rational(5, 3), bits);
}
