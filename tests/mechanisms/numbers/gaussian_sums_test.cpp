#include "gaussian_sums.hpp"

#include "bernoulli_numbers.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using epsilog::test::number;

namespace {

bool overlap(const Enclosure& a, const Enclosure& b) {
  return mpfr_lessequal_p(a.low().get(), b.high().get()) != 0 &&
         mpfr_lessequal_p(b.low().get(), a.high().get()) != 0;
}

bool within(const Enclosure& inner, const Enclosure& outer) {
  return mpfr_lessequal_p(outer.low().get(), inner.low().get()) != 0 &&
         mpfr_greaterequal_p(outer.high().get(), inner.high().get()) != 0;
}

/// sqrt(pi/2) erfc(x/sqrt 2) exp(x^2/2) from MPFR's own erfc, at far more bits than are compared.
Enclosure mills_ratio_from_erfc(const Rational& x_squared, unsigned bits) {
  const Rational half = x_squared / 2;
  const Enclosure size = sqrt(Enclosure(half, bits));
  MpfrNumber low(bits);
  MpfrNumber high(bits);
  mpfr_erfc(low.get(), size.high().get(), MPFR_RNDD);
  mpfr_erfc(high.get(), size.low().get(), MPFR_RNDU);
  return sqrt(pi(bits) / 2) * Enclosure(low, high) * exp(Enclosure(half, bits));
}

}  // namespace

TEST_CASE("gaussian sums: Euler-Maclaurin coefficients are 2 zeta(2j)/(2 pi)^2j",
          "[mechanisms][gaussian_sums]") {
  CHECK(euler_maclaurin_coefficient(1) == Rational(1, 12));
  CHECK(euler_maclaurin_coefficient(2) == Rational(-1, 720));
  CHECK(euler_maclaurin_coefficient(3) == Rational(1, 30240));
  const ExponentRange range;
  for (unsigned j = 1; j <= kEulerMaclaurinTermsMax; ++j) {
    MpfrNumber expected(200);
    MpfrNumber two_pi(200);
    mpfr_zeta_ui(expected.get(), 2UL * j, MPFR_RNDN);
    mpfr_const_pi(two_pi.get(), MPFR_RNDN);
    mpfr_mul_2ui(two_pi.get(), two_pi.get(), 1, MPFR_RNDN);
    mpfr_pow_ui(two_pi.get(), two_pi.get(), 2UL * j, MPFR_RNDN);
    mpfr_div(expected.get(), expected.get(), two_pi.get(), MPFR_RNDN);
    const Rational value = 2 * expected.rational() * (j % 2 == 1 ? 1 : -1);
    CHECK(abs(euler_maclaurin_coefficient(j) / value - 1) < epsilog::accounting::power_of_two(-180));
  }
}

TEST_CASE("gaussian sums: Mills' ratio agrees with erfc, whichever way it is computed",
          "[mechanisms][gaussian_sums]") {
  const ExponentRange range;
  for (const char* x :
       {"0", "1e-30", "0.01", "0.7", "1.9", "3.3", "4.9", "5.1", "5.5", "9.25", "26.3", "140", "5000"}) {
    const Rational square = number(x) * number(x);
    const Enclosure expected = mills_ratio_from_erfc(square, 400);
    for (const unsigned bits : {64U, 128U, 192U, 300U}) {
      CAPTURE(x, bits);
      const Enclosure ratio = mills_ratio(square, bits);
      CHECK(within(expected, ratio));
      CHECK(ratio.narrow(bits - 16));
    }
  }
  CHECK(mills_ratio(number("1e200"), 128).narrow(100));
}

TEST_CASE("gaussian sums: normal tails to both sides add up to one", "[mechanisms][gaussian_sums]") {
  const ExponentRange range;
  for (const char* square : {"0", "0.3", "2", "50", "1400"}) {
    const Enclosure both =
        normal_upper_tail(number(square), 1, 200) + normal_upper_tail(number(square), -1, 200);
    CHECK(overlap(both, Enclosure(1UL, 200)));
    CHECK(both.narrow(180));
  }
}

TEST_CASE("gaussian sums: the Euler-Maclaurin form with its remainder holds the direct sum",
          "[mechanisms][gaussian_sums]") {
  const ExponentRange range;
  for (const char* s : {"1.5", "4", "10", "31.7", "120", "1500"}) {
    for (const char* u : {"0", "0.3", "1.96", "4", "7.5", "13", "30"}) {
      const Rational first = number(s) * number(u);
      const Integer a = std::max(epsilog::accounting::ceil(first), Integer(1));
      const Enclosure direct = gaussian_tail_ratio_direct(number(s), a, 640);
      REQUIRE(direct.narrow(560));
      for (const unsigned terms : {1U, 2U, 3U, 5U, 8U, 13U, 21U, 34U, 55U}) {
        CAPTURE(s, u, terms);
        CHECK(within(direct, gaussian_tail_ratio_euler_maclaurin(number(s), a, terms, 320)));
      }
      for (const unsigned bits : {40U, 64U, 100U, 160U, 250U}) {
        const Enclosure chosen = gaussian_tail_ratio(number(s), a, bits);
        CHECK(within(direct, chosen));
        CHECK(chosen.narrow(bits - 30));
        CHECK(within(direct, gaussian_tail_ratio_direct(number(s), a, bits)));
      }
    }
  }
}

TEST_CASE("gaussian sums: the remainder is not far larger than the error it bounds",
          "[mechanisms][gaussian_sums]") {
  const ExponentRange range;
  const Enclosure direct = gaussian_tail_ratio_direct(20, 40, 400);
  for (const unsigned terms : {2U, 4U, 8U, 16U}) {
    // The error before the last term was added is about that term, and the bound must be of its size.
    const Enclosure before = gaussian_tail_ratio_euler_maclaurin(20, 40, terms - 1, 400);
    const Enclosure formula = gaussian_tail_ratio_euler_maclaurin(20, 40, terms, 400);
    const Rational error = abs(before.middle().rational() - direct.middle().rational());
    const Rational claimed = formula.high().rational() - formula.low().rational();
    CAPTURE(terms, Rational(claimed / error).get_d());
    CHECK(error > 0);
    CHECK(claimed < 300 * error);
  }
}

TEST_CASE("gaussian sums: the total by Poisson summation is twice the direct sum and one",
          "[mechanisms][gaussian_sums]") {
  const ExponentRange range;
  for (const char* s : {"0.05", "0.6", "0.999", "1", "1.2", "3", "17.3", "400"}) {
    CAPTURE(s);
    const Enclosure total = gaussian_total(number(s), 200);
    const Enclosure first = exp(Enclosure(-1 / (2 * number(s) * number(s)), 200));
    CHECK(overlap(total, Enclosure(1UL, 200) + first * gaussian_tail_ratio_direct(number(s), 1, 200) * 2));
    CHECK(total.narrow(180));
  }
}

TEST_CASE("gaussian sums: an interval times an interval holds every product of members",
          "[mechanisms][enclosure]") {
  const ExponentRange range;
  const std::vector<Rational> ends = {-3, Rational(-1, 3), 0, Rational(2, 7), 5};
  const auto interval = [&](std::size_t low, std::size_t high) {
    return Enclosure(MpfrNumber::rounded(ends[low], 20, MPFR_RNDD),
                     MpfrNumber::rounded(ends[high], 20, MPFR_RNDU));
  };
  for (std::size_t a = 0; a < ends.size(); ++a) {
    for (std::size_t b = a; b < ends.size(); ++b) {
      for (std::size_t c = 0; c < ends.size(); ++c) {
        for (std::size_t d = c; d < ends.size(); ++d) {
          const Enclosure product = interval(a, b) * interval(c, d);
          std::vector<Rational> products;
          for (const std::size_t left : {a, b}) {
            for (const std::size_t right : {c, d}) products.push_back(ends[left] * ends[right]);
          }
          const auto [least, most] = std::minmax_element(products.begin(), products.end());
          CHECK(product.low().rational() <= *least);
          CHECK(product.high().rational() >= *most);
          CHECK(product.low().rational() >= *least - Rational(1, 1000));
          CHECK(product.high().rational() <= *most + Rational(1, 1000));
        }
      }
      if (ends[a] > 0) {
        const Enclosure quotient = interval(0, 3) / interval(a, b);
        CHECK(quotient.low().rational() <= ends[0] / ends[a]);
        CHECK(quotient.high().rational() >= ends[3] / ends[a]);
      }
    }
  }
  CHECK_FALSE((Enclosure(1UL, 20) / interval(1, 3)).certainly_at_most(1'000'000));
}
