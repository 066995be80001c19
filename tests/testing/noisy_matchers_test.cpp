#include "epsilog/testing/noisy_matchers.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"
#include "support/seeded_noise.hpp"

using namespace epsilog::testing;
using epsilog::InvalidParameter;
using epsilog::accounting::Epsilon;
using epsilog::accounting::parse_rational;
using epsilog::accounting::power_of_ten;
using epsilog::mechanisms::Arithmetic;
using epsilog::mechanisms::SnappingMechanism;
using epsilog::test::SeededNoise;

namespace {

Flakiness level(int k) {
  return Flakiness::ten_to_the_minus(k);
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Matches, and returns what the failure message would say.
template <class Matcher, class Value>
std::string message_after(const Matcher& matcher, const Value& value, bool expected) {
  CHECK(matcher.match(value) == expected);
  return matcher.toString();
}

std::vector<epsilog::accounting::Rational> snapped(const SnappingMechanism& mechanism,
                                                   const epsilog::accounting::Rational& answer,
                                                   std::size_t values, std::uint64_t seed) {
  epsilog::test::SeededBits bits(seed);
  epsilog::ledger::Transaction transaction;
  const std::vector<epsilog::accounting::Rational> answers(values, answer);
  const auto release = mechanism.release(answers, transaction.receipt(mechanism.parameters().charged), bits);
  return epsilog::ledger::Transaction::opened(release);
}

}  // namespace

TEST_CASE("matchers: a tolerance includes its ends, exactly", "[testing]") {
  const AddedNoise half = AddedNoise::within(Rational(1, 2));
  CHECK_THAT(1.5, NoisyEquals(1, half, level(3)));
  CHECK_THAT(0.5F, NoisyEquals(1, half, level(3)));
  CHECK_FALSE(NoisyEquals(1, half, level(3)).match(std::nextafter(1.5, 2)));
  CHECK_FALSE(NoisyEquals(1, half, level(3)).match(std::nextafter(0.5, 0)));
  CHECK_THAT(Rational(3, 2), NoisyEquals(1, Rational(1, 2), level(3)));
  CHECK_FALSE(NoisyEquals(1, Rational(1, 2), level(3)).match(Rational(3, 2) + power_of_ten(-300)));
  CHECK_THAT(7, NoisyEquals(Integer(7), Rational(0), level(3)));
  CHECK_THAT(7U, NoisyEquals(7L, Rational(0), level(3)));
}

TEST_CASE("matchers: what is no number equals nothing", "[testing][negative]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const AddedNoise wide = AddedNoise::within(power_of_ten(300));
  const AddedNoise laplace = AddedNoise::laplace(1, 1);
  for (const double value : {nan, infinity, -infinity}) {
    CHECK_FALSE(NoisyEquals(0, wide, level(3)).match(value));
    CHECK_FALSE(NoisyEquals(0, wide, level(3)).match(std::vector<double>{0, value}));
    CHECK_FALSE(IsNoisy(0, laplace, level(3)).match(value));
    CHECK_THROWS_AS(NoisyEquals(value, wide, level(3)), InvalidParameter);
    CHECK_THROWS_AS(IsNoisy(std::vector<double>{value}, laplace, level(3)), InvalidParameter);
  }
  CHECK(says(message_after(NoisyEquals(0, wide, level(3)), nan, false), "not finite"));
}

TEST_CASE("matchers: the level decides the tolerance and stands in the message", "[testing]") {
  const AddedNoise noise = AddedNoise::laplace(50, 1);
  CHECK_THAT(43.0591, NoisyEquals(42, noise, level(23)));
  const std::string failure = message_after(NoisyEquals(42, noise, level(23)), 43.0592, false);
  CHECK(says(failure, "within 1.05918"));
  CHECK(says(failure, "of 42"));
  CHECK(says(failure, "Laplace noise, epsilon 50, L1 1"));
  CHECK(says(failure, "at most 10^-23"));
  CHECK(says(failure, "value 0 is 1.059"));
  CHECK_FALSE(NoisyEquals(42, noise, level(22)).match(43.0591));
  // The message that docs/testing.md shows.
  const AddedNoise count = AddedNoise::rounded_laplace(Rational(1, 2), 1);
  CHECK(message_after(NoisyEquals(1000, count, level(12)), 1060, false) ==
        "is within 55 of 1000 (rounded Laplace noise, epsilon 0.5, L1 1; fails by chance with probability at "
        "most 10^-12); value 0 is 60 away");
  // Whole numbers: t = 2.6 allows 3, t = 2.4 allows 2.
  const Rational k = parse_rational("1.1", "k");  // t = 1.1 ln 10 = 2.53…
  const AddedNoise whole = AddedNoise::rounded_laplace(1, 1);
  CHECK_THAT(3, NoisyEquals(0, whole, Flakiness::ten_to_the_minus(k)));
  CHECK_FALSE(NoisyEquals(0, whole, level(1)).match(3));
  CHECK_THAT(-2, NoisyEquals(0, whole, level(1)));
}

TEST_CASE("matchers: a range shares one level and needs its own length", "[testing]") {
  const AddedNoise noise = AddedNoise::laplace(1, 1);
  const std::vector<double> expected{10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
  const double one = noise.tolerance_up(level(3)).get_d();
  const double ten = noise.tolerance_up(level(4)).get_d();
  std::vector<double> values = expected;
  values[7] += (one + ten) / 2;
  CHECK_THAT(values, NoisyEquals(expected, noise, level(3)));
  CHECK_FALSE(NoisyEquals(80, noise, level(3)).match(values[7]));
  values[7] = expected[7] + ten * 1.01;
  CHECK(says(message_after(NoisyEquals(expected, noise, level(3)), values, false), "value 7 is"));
  values.pop_back();
  CHECK(says(message_after(NoisyEquals(expected, noise, level(3)), values, false), "got 9 values"));
  CHECK_FALSE(NoisyEquals(10, noise, level(3)).match(std::vector<double>{}));
  CHECK_THROWS_AS(NoisyEquals(std::vector<double>{}, noise, level(3)), InvalidParameter);
}

TEST_CASE("matchers: real noise shows in one value", "[testing]") {
  const AddedNoise noise = AddedNoise::laplace(1, 1);
  CHECK_FALSE(IsNoisy(5, noise, level(3)).match(5));
  CHECK_FALSE(IsNoisy(5, noise, level(3)).match(5.001));  // t = -ln(1 - 10^-3) = 0.0010005…
  CHECK_THAT(5.0011, IsNoisy(5, noise, level(3)));
  CHECK_THAT(std::nextafter(5.0, 6.0), IsNoisy(5, noise, level(23)));
  const Rational narrow = *noise.complementary_down(level(3));
  CHECK_FALSE(IsNoisy(5, noise, level(3)).match(Rational(5 - narrow)));
  CHECK_THAT(Rational(5 - narrow - power_of_ten(-60)), IsNoisy(5, noise, level(3)));
  const std::vector<double> one_is_bare{4, 5, 6};
  CHECK(says(message_after(IsNoisy(5, noise, level(3)), one_is_bare, false), "value 1 does not"));
  const std::string failure = message_after(IsNoisy(5, noise, level(3)), 5, false);
  CHECK(says(failure, "differs by more than 0.001000"));
  CHECK(says(failure, "at most 10^-3"));
}

TEST_CASE("matchers: noise on whole numbers shows only in enough of them", "[testing]") {
  const AddedNoise noise = AddedNoise::rounded_laplace(parse_rational("0.1", "epsilon"), 1);
  const auto needed = noise.values_needed(level(12)).get_ui();
  CHECK(needed == 10);  // 0.0488^10 <= 10^-12 < 0.0488^9
  const std::vector<long> bare(needed, 7);
  const std::string failure = message_after(IsNoisy(7, noise, level(12)), bare, false);
  CHECK(says(failure, "all 10 values are"));
  CHECK(says(failure, "at most 10^-12"));
  std::vector<long> noisy = bare;
  noisy.back() = 8;
  CHECK_THAT(noisy, IsNoisy(7, noise, level(12)));
  noisy.erase(noisy.begin());
  CHECK_THROWS_AS(IsNoisy(7, noise, level(12)).match(noisy), InvalidParameter);
  CHECK_THROWS_AS(IsNoisy(7, noise, level(12)).match(8), InvalidParameter);
  CHECK_THROWS_AS(IsNoisy(7, AddedNoise::within(1), level(12)).match(8), InvalidParameter);
  CHECK_FALSE(IsNoisy(std::vector<long>(11, 7), noise, level(12)).match(bare));
}

TEST_CASE("matchers: discrete noise is held to the last step its law allows", "[testing]") {
  // P(|X| >= a) = 2 q^a/(1 + q), q = e^(-1/2): 0.0138… at a = 9 and 0.0084… at a = 10.
  const AddedNoise laplace = AddedNoise::discrete_laplace(2);
  CHECK(laplace.tolerance_up(level(2)) == 9);
  CHECK_THAT(109, NoisyEquals(100, laplace, level(2)));
  CHECK_FALSE(NoisyEquals(100, laplace, level(2)).match(110));
  // The same on a grid of quarters, in the unit of the answer.
  const AddedNoise quarters = AddedNoise::discrete_laplace(Rational(1, 2), Rational(1, 4));
  CHECK(quarters.tolerance_up(level(2)) == Rational(9, 4));
  CHECK(quarters.values_needed(level(6)) == laplace.values_needed(level(6)));
  // erfc(z/sqrt 2) = 10^-3 at z = 3.29, and a step of 1 at scale 100 changes little.
  const AddedNoise gaussian = AddedNoise::discrete_gaussian(100);
  CHECK(gaussian.tolerance_up(level(3)) == 329);
  CHECK(says(message_after(NoisyEquals(0, gaussian, level(3)), 330, false),
             "discrete Gaussian noise, scale 100;"));
  CHECK(gaussian.values_needed(level(12)) == 6);  // 0.00399^5 > 10^-12 > 0.00399^6
  CHECK_THROWS_AS(AddedNoise::discrete_laplace(0), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::discrete_gaussian(1, 0), InvalidParameter);
}

TEST_CASE("matchers: snapping is judged by its own accuracy and its noiseless value",
          "[testing][snapping][statistical]") {
  // Each check has flakiness 10^-14; 18 checks, so below 10^-12 over seeds.
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    const SnappingMechanism mechanism({.epsilon = Epsilon::parse_down("0.5"),
                                       .sensitivity = 1,
                                       .lower = 0,
                                       .upper = 100,
                                       .arithmetic = arithmetic});
    const AddedNoise noise = AddedNoise::released_by(mechanism);
    const auto needed = noise.values_needed(level(14)).get_ui();
    std::uint64_t seed = 4000;
    for (const char* answer : {"0", "17.3", "100"}) {
      CAPTURE(answer, seed, needed);
      const Rational truth = parse_rational(answer, "answer");
      const auto values = snapped(mechanism, truth, needed, seed++);
      CHECK_THAT(values, NoisyEquals(truth, noise, level(14)));
      CHECK_THAT(values, IsNoisy(truth, noise, level(14)));
      const std::vector<Rational> bare(needed, noise.noiseless(truth));
      CHECK_FALSE(IsNoisy(truth, noise, level(14)).match(bare));
      CHECK_FALSE(NoisyEquals(truth + 200, noise, level(14)).match(values));
    }
  }
}

TEST_CASE("matchers: the stated flakiness is met and not wasted", "[testing][statistical]") {
  // 20,000 checks of flakiness 10^-2 on noise of the law claimed; the count of failures stays within
  // Chernoff bounds of 10^-14 on both sides, three times.
  constexpr int kChecks = 20'000;
  const AddedNoise noise = AddedNoise::laplace(1, 3);
  SeededNoise source(4100);
  const auto equals = NoisyEquals(5, noise, level(2));
  const auto is_noisy = IsNoisy(5, noise, level(2));
  int far = 0;
  int bare = 0;
  int far_in_four = 0;
  for (int check = 0; check < kChecks; ++check) {
    far += equals.match(5 + source.laplace(3)) ? 0 : 1;
    bare += is_noisy.match(5 + source.laplace(3)) ? 0 : 1;
  }
  for (int check = 0; check < kChecks / 4; ++check) {
    std::vector<double> values(4);
    for (double& value : values) value = 5 + source.laplace(3);
    far_in_four += equals.match(values) ? 0 : 1;
  }
  CAPTURE(far, bare, far_in_four);
  CHECK(epsilog::test::binomial_tail_bound(far, kChecks, 0.01) > 1e-14);
  CHECK(epsilog::test::binomial_tail_bound(bare, kChecks, 0.01) > 1e-14);
  CHECK(epsilog::test::binomial_tail_bound(far_in_four, kChecks / 4.0, 0.00996) > 1e-14);
}

TEST_CASE("flakiness: a suite hands out as many parts as were declared", "[testing]") {
  SuiteFlakiness suite(level(12), 1000);
  CHECK(suite.next().k() == 15);
  CHECK(suite.total().k() == 12);
  SuiteFlakiness three(level(6), 3);
  const Rational k = three.next().k();
  CHECK(k >= parse_rational("6.477121254719662437295027903255115309200128864190695864829", "k"));
  CHECK(k < parse_rational("6.4771212547196624372950279032551153093", "k"));
  CHECK(three.next().text().starts_with("10^-6.47712"));
  static_cast<void>(three.next());
  CHECK_THROWS_AS(three.next(), InvalidParameter);
  CHECK_THROWS_AS(SuiteFlakiness(level(3), 0), InvalidParameter);
}

TEST_CASE("flakiness: threads never take more parts than there are", "[testing]") {
  SuiteFlakiness suite(level(12), 1000);
  std::atomic<int> taken = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int part = 0; part < 300; ++part) {
        try {
          static_cast<void>(suite.next());
          ++taken;
        } catch (const InvalidParameter&) {
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(taken == 1000);
  CHECK(refused == 200);
}

TEST_CASE("flakiness: what is no level, noise or tolerance is refused", "[testing][negative]") {
  CHECK_THROWS_AS(Flakiness::ten_to_the_minus(0), InvalidParameter);
  CHECK_THROWS_AS(Flakiness::ten_to_the_minus(-3), InvalidParameter);
  CHECK_THROWS_AS(Flakiness::ten_to_the_minus(1'000'001), InvalidParameter);
  CHECK_THROWS_AS(level(3).of_each(0), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::laplace(0, 1), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::laplace(1, -1), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::rounded_laplace(0, 1), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::gaussian(1, 0, 1), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::gaussian(1, 1, 1), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::rounded_gaussian(1, Rational(1, 2), 0), InvalidParameter);
  CHECK_THROWS_AS(AddedNoise::within(-1), InvalidParameter);
}
