#include "epsilog/mechanisms/noise_presence.hpp"

#include "epsilog/accounting/errors.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"
#include "support/seeded_noise.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using epsilog::test::number;

namespace {

struct Known {
  const char* scale;
  const char* probability;  ///< mpmath, 40 digits
};

template <class Probability>
void check_known(Probability probability, std::initializer_list<Known> table) {
  for (const Known& known : table) {
    CAPTURE(known.scale);
    const Rational reference = number(known.probability);
    const Rational found = probability(number(known.scale));
    CHECK(found >= reference * (1 - power_of_ten(-39)));
    CHECK(found <= reference * (1 + power_of_ten(-32)));
  }
}

Rational power(const Rational& base, unsigned long exponent) {
  Rational result;
  mpz_pow_ui(result.get_num_mpz_t(), base.get_num_mpz_t(), exponent);
  mpz_pow_ui(result.get_den_mpz_t(), base.get_den_mpz_t(), exponent);
  return result;
}

SnappingMechanism::Options snapping(const char* epsilon, const char* upper, Arithmetic arithmetic) {
  return {.epsilon = Epsilon::parse_down(epsilon),
          .sensitivity = 1,
          .lower = 0,
          .upper = number(upper),
          .arithmetic = arithmetic};
}

/// P(release = snapped_without_noise(y)) of the ideal law, in doubles.
double unchanged(const SnappingMechanism::Parameters& p, const Rational& y) {
  const double lambda = p.scale.get_d();
  const double inner = std::clamp(Rational(y - p.centre), Rational(-p.bound), p.bound).get_d();
  const double grid = p.grid.get_d();
  const double last = std::ceil(p.bound.get_d() / grid);
  const double cell = std::clamp(std::floor(inner / grid + 0.5), -last, last);
  const double above = cell == last ? 0 : std::exp(-((cell + 0.5) * grid - inner) / lambda) / 2;
  const double below = cell == -last ? 0 : std::exp(-(inner - (cell - 0.5) * grid) / lambda) / 2;
  return 1 - above - below;
}

template <class Call>
void refused(const std::string& place, Call call) {
  CHECK_THAT(epsilog::test::message_thrown<epsilog::InvalidParameter>(call),
             Catch::Matchers::StartsWith(place + ":"));
}

}  // namespace

TEST_CASE("presence: the probability of no noise has its known digits, rounded up",
          "[mechanisms][tolerance][presence]") {
  check_known(rounded_laplace_unchanged_up,
              {{"1", "0.393469340287366576396200465008819546558081865"},
               {"10", "0.0487705754992859909085746802203478393429125507"},
               {"2500", "0.00019998000133326666933324444698406349347439859"},
               {"1000000000000000", "4.99999999999999875000000000000020833333333333e-16"},
               {"1/20", "0.999954600070237515148464408484439449389762082"}});
  check_known(rounded_gaussian_unchanged_up,
              {{"1/10", "0.999999426696856241612176652495334250709292291"},
               {"1", "0.382924922548026207275409221216675479767204351"},
               {"10", "0.039877611676744923192642943545230069997579467"},
               {"2500", "0.000159576911096726996488567738827883903176615889"},
               {"1000000000000000", "3.98942280401432677939946059934365245880841905e-16"}});
  check_known(discrete_laplace_unchanged_up,
              {{"1/10", "0.999909204262595131210990447534473021089812616"},
               {"1", "0.46211715726000975850231848364367254873028928"},
               {"10", "0.0499583749578799721983863652082843196427997938"},
               {"2500", "0.000199999997333333375999999309206360403527155342"},
               {"1000000000000000", "4.99999999999999999999999999999958333333333333e-16"}});
  check_known(discrete_gaussian_unchanged_up,
              {{"1/10", "0.99999999999999999999961425003040721644339668"},
               {"2/5", "0.919217915691763640567436073992261692739396913"},
               {"99/100", "0.402971997211959542539402968912908342957714038"},
               {"1", "0.398942278266861705581680536389207411548612703"},
               {"10", "0.0398942280401432677939946059934381868475858631"},
               {"2500", "0.000159576912160573071175978423973752747390343452"},
               {"1000000000000000", "3.98942280401432677939946059934381868475858631e-16"}});
  // Noise this small is none: probabilities round up to 1, and the question is refused.
  CHECK(discrete_gaussian_unchanged_up(number("1e-15")) == 1);
  CHECK(rounded_laplace_unchanged_up(number("1e-3")) == 1);
  CHECK(discrete_gaussian_unchanged_up(number("1e300")) < number("4e-301"));
}

TEST_CASE("presence: a count at epsilon 0.1 comes out unchanged once in twenty",
          "[mechanisms][tolerance][presence]") {
  CHECK(std::abs(rounded_laplace_unchanged_up(10).get_d() - 0.0488) < 1e-4);
  CHECK(std::abs(discrete_laplace_unchanged_up(10).get_d() - 0.04996) < 1e-5);
}

TEST_CASE("presence: so many values settle it, and two fewer do not", "[mechanisms][tolerance][presence]") {
  for (const char* unchanged : {"0.0488", "0.1", "0.3", "1/2", "0.816", "0.999"}) {
    for (const int k : {1, 3, 12, 23}) {
      CAPTURE(unchanged, k);
      const Rational p = number(unchanged);
      const Integer n = values_to_show_noise(p, k);
      CHECK(power(p, n.get_ui()) <= power_of_ten(-k));
      if (n > 2) CHECK(power(p, n.get_ui() - 2) > power_of_ten(-k));
    }
  }
  CHECK(values_to_show_noise(number("1/2"), 12) == 40);
  CHECK(values_to_show_noise(0, 12) == 1);
}

TEST_CASE("presence: no answer is snapped back to itself more often than stated",
          "[mechanisms][tolerance][presence][snapping]") {
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    for (const char* epsilon : {"0.3", "1", "1.9"}) {
      for (const char* upper : {"0.7", "5", "64", "101.3"}) {
        CAPTURE(epsilon, upper);
        const SnappingMechanism mechanism(snapping(epsilon, upper, arithmetic));
        const auto& p = mechanism.parameters();
        const double stated = snapping_unchanged_up(p).get_d();
        double worst = 0;
        for (int i = 0; i <= 3000; ++i) worst = std::max(worst, unchanged(p, number(upper) * i / 3000));
        CHECK(worst <= stated + 1e-12);
        CHECK(stated < 0.82);
      }
    }
  }
  // At an end on the grid the bound is met: half of all noise is cut off there.
  const SnappingMechanism mechanism(snapping("1", "64", Arithmetic::exact));
  CHECK(std::abs(unchanged(mechanism.parameters(), 64) -
                 snapping_unchanged_up(mechanism.parameters()).get_d()) < 1e-12);
}

TEST_CASE("presence: snapping releases its noiseless value as often as the law says",
          "[mechanisms][tolerance][presence][snapping][statistical]") {
  // 40,000 draws for each of 4 answers; a cell fails when its Chernoff bound is below 1e-14.
  constexpr std::size_t kDraws = 40'000;
  const SnappingMechanism mechanism(snapping("0.7", "64", Arithmetic::mpfr));
  std::uint64_t seed = 3400;
  for (const char* answer : {"0", "17.3", "32", "64"}) {
    epsilog::test::SeededBits bits(seed++);
    epsilog::ledger::Transaction transaction;
    const std::vector<Rational> answers(kDraws, number(answer));
    const auto release =
        mechanism.release(answers, transaction.receipt(mechanism.parameters().charged), bits);
    const auto& values = epsilog::ledger::Transaction::opened(release);
    const Rational noiseless = snapped_without_noise(mechanism.parameters(), number(answer));
    const auto count = static_cast<double>(std::count(values.begin(), values.end(), noiseless));
    const double p = unchanged(mechanism.parameters(), number(answer));
    CAPTURE(answer, count, p);
    CHECK(epsilog::test::binomial_tail_bound(count, kDraws, p) > 1e-14);
  }
}

TEST_CASE("presence: a level shared by the union bound rounds against a false alarm",
          "[mechanisms][tolerance][presence]") {
  CHECK(flakiness_of_each_up(12, 1) == 12);
  CHECK(flakiness_of_each_up(12, 1000) == 15);
  const Rational seven = flakiness_of_each_up(12, 7);
  CHECK(seven >= number("12.8450980400142568307122162585926361934835723963239654"));
  CHECK(seven <= number("12.8450980400142568307122162585926361934835723963239655") + power_of_two(-120));
  CHECK(flakiness_probability_down(12) == power_of_ten(-12));
  const Rational p = flakiness_probability_down(number("2.5"));
  CHECK(p * p <= power_of_ten(-5));
  CHECK(p * p >= power_of_ten(-5) * (1 - power_of_two(-120)));
}

TEST_CASE("presence: each impossible parameter is refused by name",
          "[mechanisms][tolerance][presence][negative]") {
  refused("scale", [] { return rounded_laplace_unchanged_up(0); });
  refused("sigma", [] { return rounded_gaussian_unchanged_up(-1); });
  refused("scale", [] { return discrete_laplace_unchanged_up(0); });
  refused("scale", [] { return discrete_gaussian_unchanged_up(-1); });
  refused("unchanged", [] { return values_to_show_noise(1, 3); });
  refused("unchanged", [] { return values_to_show_noise(-1, 3); });
  refused("unchanged", [] { return values_to_show_noise(2, 3); });
  refused("flakiness", [] { return values_to_show_noise(Rational(1, 2), 0); });
  refused("flakiness", [] { return flakiness_of_each_up(-1, 3); });
  refused("checks", [] { return flakiness_of_each_up(1, 0); });
  refused("flakiness", [] { return flakiness_of_each_up(1'000'000, 10); });
  refused("flakiness", [] { return flakiness_probability_down(0); });
}
