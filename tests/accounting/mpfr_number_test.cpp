#include "epsilog/accounting/mpfr_number.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using epsilog::InvalidParameter;
using namespace epsilog::accounting;

TEST_CASE("mpfr number: rational to number and back is exact when the number is dyadic",
          "[accounting][mpfr]") {
  for (const Rational& value : {Rational(0), Rational(1), Rational(-3, 8), Rational(12345678901234567, 1),
                                power_of_two(-2000), Rational(-power_of_two(900) - power_of_two(-900))}) {
    CHECK(MpfrNumber::exactly(value).rational() == value);
  }
  CHECK_THROWS_AS(MpfrNumber::exactly(Rational(1, 3)), InvalidParameter);
}

TEST_CASE("mpfr number: rounding goes in the direction that is named", "[accounting][mpfr]") {
  const Rational third(1, 3);
  for (const unsigned bits : {1U, 2U, 53U, 118U, 1000U}) {
    const Rational down = MpfrNumber::rounded(third, bits, MPFR_RNDD).rational();
    const Rational up = MpfrNumber::rounded(third, bits, MPFR_RNDU).rational();
    CHECK(down < third);
    CHECK(third < up);
    CHECK(up - down == power_of_two(-1 - static_cast<long>(bits)));
  }
}

TEST_CASE("mpfr number: NaN, infinities and impossible precisions are refused", "[accounting][mpfr]") {
  CHECK_THROWS_AS(MpfrNumber::exactly(std::nan("")), InvalidParameter);
  CHECK_THROWS_AS(MpfrNumber::exactly(std::numeric_limits<double>::infinity()), InvalidParameter);
  CHECK_THROWS_AS(MpfrNumber(0U), InvalidParameter);
  CHECK_THROWS_AS(MpfrNumber(1'000'001U), InvalidParameter);
  MpfrNumber number(53U);
  mpfr_set_nan(number.get());
  CHECK_THROWS_AS(number.rational(), InvalidParameter);
  mpfr_set_inf(number.get(), -1);
  CHECK_THROWS_AS(number.rational(), InvalidParameter);
}

TEST_CASE("mpfr number: copies are equal and independent, moves carry the value", "[accounting][mpfr]") {
  MpfrNumber first = MpfrNumber::exactly(0.75);
  MpfrNumber second = first;
  mpfr_set_ui(first.get(), 2, MPFR_RNDN);
  CHECK(second.nearest_double() == 0.75);
  MpfrNumber third = std::move(second);
  CHECK(third.nearest_double() == 0.75);
  CHECK(third.precision() == 53);
  first = third;
  CHECK(first == third);
  MpfrNumber wide(200U);
  wide = std::move(third);
  CHECK(wide.rational() == Rational(3, 4));
}

TEST_CASE("mpfr number: a narrowed exponent range of the program is widened and restored",
          "[accounting][mpfr]") {
  const mpfr_exp_t before = mpfr_get_emin();
  mpfr_set_emin(-20);
  {
    const ExponentRange range;
    MpfrNumber tiny(53U);
    mpfr_set_ui_2exp(tiny.get(), 1, -5000, MPFR_RNDN);
    CHECK(mpfr_zero_p(tiny.get()) == 0);
  }
  CHECK(mpfr_get_emin() == -20);
  mpfr_set_emin(before);
  CHECK(MpfrNumber::exactly(power_of_two(-5000)).rational() == power_of_two(-5000));
}
