#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using epsilog::InvalidParameter;
using epsilog::accounting::power_of_two;

namespace {

constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// floor(x / grid + 1/2) * grid in rationals, from the definition.
Rational by_definition(double x, double grid) {
  const Rational shifted = Rational(x) / Rational(grid) + Rational(1, 2);
  return Rational(epsilog::accounting::floor(shifted)) * Rational(grid);
}

}  // namespace

TEST_CASE("snapping: rounding follows the table, with ties toward plus infinity",
          "[mechanisms][snapping][exact]") {
  const double inputs[] = {-30.01, -2.51, -1.01, -0.76, -0.51, -0.26, 0, 0.26, 0.51, 0.76, 1.01, 2.51, 30.01};
  const double by_one[] = {-30, -3, -1, -1, -1, 0, 0, 0, 1, 1, 1, 3, 30};
  const double by_four[] = {-32, -4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 32};
  for (std::size_t i = 0; i < std::size(inputs); ++i) {
    CAPTURE(inputs[i]);
    CHECK(round_to_multiple(inputs[i], 1.0) == by_one[i]);
    CHECK(round_to_multiple(inputs[i], 4.0) == by_four[i]);
  }
  CHECK(round_to_multiple(3.0, 2.0) == 4);
  CHECK(round_to_multiple(std::nextafter(3.0, 0.0), 2.0) == 2);
  CHECK(round_to_multiple(1.75, 1.0) == 2);
  CHECK(round_to_multiple(3.75, 1.0) == 4);
  CHECK(round_to_multiple(7.5, 1.0) == 8);
  CHECK(round_to_multiple(-0.5, 1.0) == 0);
  CHECK(round_to_multiple(-1.5, 1.0) == -1);
  CHECK(round_to_multiple(0.0, 8.0) == 0);
}

TEST_CASE("snapping: a rounded zero is positive whatever it came from", "[mechanisms][snapping][exact]") {
  for (const double x : {-0.0, -kLeast, -0.25, -0.5}) {
    CHECK_FALSE(std::signbit(round_to_multiple(x, 1.0)));
    MpfrNumber number = MpfrNumber::exactly(x);
    CHECK(mpfr_signbit(round_to_multiple(number, 1.0).get()) == 0);
  }
}

TEST_CASE("snapping: rounding equals its definition for every exponent, in three forms",
          "[mechanisms][snapping][exact]") {
  std::mt19937_64 random(20261121);
  const auto agrees = [](double x, double grid) {
    const Rational expected = by_definition(x, grid);
    const bool right = Rational(round_to_multiple(x, grid)) == expected &&
                       round_to_multiple(Rational(x), Rational(grid)) == expected &&
                       round_to_multiple(MpfrNumber::exactly(x), grid).rational() == expected;
    return right;
  };
  for (int exponent = -1074; exponent <= 1022; ++exponent) {
    const double magnitude = std::ldexp(1.0 + std::ldexp(static_cast<double>(random() >> 12), -52), exponent);
    for (const int offset : {-60, -53, -52, -20, -1, 0, 1, 2, 53, 54, 60}) {
      const int grid_exponent = exponent + offset;
      if (grid_exponent < -1074 || grid_exponent > 1022) continue;
      const double grid = std::ldexp(1.0, grid_exponent);
      for (const double x : {magnitude, -magnitude}) {
        if (!agrees(x, grid)) FAIL("x = " << x << ", grid = " << grid);
      }
      // Exact ties and their neighbours.
      const double tie = grid * 1.5;
      for (const double x : {tie, -tie, std::nextafter(tie, 0), std::nextafter(-tie, 0)}) {
        if (std::isfinite(x) && !agrees(x, grid)) FAIL("tie x = " << x << ", grid = " << grid);
      }
    }
  }
  CHECK(agrees(kMax, kLeast));
  CHECK(agrees(-kMax, kLeast));
  CHECK(agrees(kLeast, std::ldexp(1.0, 1023)));
  CHECK(agrees(kMax, 1.0));
}

TEST_CASE("snapping: rounding refuses what it cannot round", "[mechanisms][snapping]") {
  for (const double x : {kInfinity, -kInfinity, std::nan("")}) {
    CHECK_THROWS_AS(round_to_multiple(x, 1.0), InvalidParameter);
    CHECK_THROWS_AS(power_of_two_at_least(x), InvalidParameter);
    CHECK_THROWS_AS(log_rounded(x, 53), InvalidParameter);
    CHECK_THROWS_AS(round_to_multiple(MpfrNumber::exactly(1.0), x), InvalidParameter);
  }
  for (const double grid : {0.0, -1.0, 3.0, 0.75, kInfinity, std::nan("")}) {
    CHECK_THROWS_AS(round_to_multiple(1.0, grid), InvalidParameter);
    CHECK_THROWS_AS(round_to_multiple(MpfrNumber::exactly(1.0), grid), InvalidParameter);
  }
  for (const Rational& grid : {Rational(0), Rational(-2), Rational(3), Rational(1, 3)}) {
    CHECK_THROWS_AS(round_to_multiple(Rational(1), grid), InvalidParameter);
  }
  CHECK_THROWS_AS(round_to_multiple(kMax, std::ldexp(1.0, 1023)), InvalidParameter);
  MpfrNumber nan(53U);
  mpfr_set_nan(nan.get());
  CHECK_THROWS_AS(round_to_multiple(nan, 1.0), InvalidParameter);
  CHECK_THROWS_AS(round_to_multiple(MpfrNumber::exactly(1.0), nan), InvalidParameter);
  CHECK_THROWS_AS(power_of_two_at_least(nan), InvalidParameter);
  CHECK_THROWS_AS(log_rounded(nan, 53), InvalidParameter);
}

TEST_CASE("snapping: the grid is the smallest power of two at least lambda",
          "[mechanisms][snapping][exact]") {
  CHECK(power_of_two_at_least(std::nextafter(2.0, kInfinity)) == 4);
  CHECK(power_of_two_at_least(std::nextafter(2.0, 0.0)) == 2);
  CHECK(power_of_two_at_least(kLeast) == kLeast);
  CHECK(power_of_two_at_least(3 * kLeast) == 4 * kLeast);
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    CHECK(power_of_two_at_least(power) == power);
    CHECK(power_of_two_at_least(Rational(power)) == Rational(power));
    CHECK(power_of_two_at_least(MpfrNumber::exactly(power)).rational() == Rational(power));
    const double above = std::nextafter(power, kInfinity);
    if (exponent < 1023 && exponent > -1074) {
      CHECK(power_of_two_at_least(above) == 2 * power);
      CHECK(power_of_two_at_least(Rational(above)) == 2 * Rational(power));
      CHECK(power_of_two_at_least(MpfrNumber::exactly(above)).rational() == 2 * Rational(power));
    }
  }
  CHECK(power_of_two_at_least(Rational(1, 3)) == Rational(1, 2));
  CHECK(power_of_two_at_least(Rational(7, 3)) == 4);
  CHECK_THROWS_AS(power_of_two_at_least(std::nextafter(std::ldexp(1.0, 1023), kInfinity)), InvalidParameter);
  CHECK_THROWS_AS(power_of_two_at_least(0.0), InvalidParameter);
  CHECK_THROWS_AS(power_of_two_at_least(-1.0), InvalidParameter);
  CHECK_THROWS_AS(power_of_two_at_least(Rational(0)), InvalidParameter);
  CHECK_THROWS_AS(power_of_two_at_least(MpfrNumber(53U)), InvalidParameter);
}

TEST_CASE("snapping: the logarithm is the nearest number of p bits", "[mechanisms][snapping][exact]") {
  std::mt19937_64 random(7);
  for (const unsigned p : {2U, 8U, 24U, 53U, 118U, 300U}) {
    for (int i = 0; i < 300; ++i) {
      const double u = std::ldexp(static_cast<double>(random() | 1), -64 - static_cast<int>(random() % 900));
      const MpfrNumber rounded = log_rounded(u, p);
      // Independent: both directed roundings with 200 more bits, then the nearer of the p-bit neighbours.
      MpfrNumber fine(p + 200);
      MpfrNumber argument = MpfrNumber::exactly(u);
      mpfr_log(fine.get(), argument.get(), MPFR_RNDN);
      MpfrNumber below = rounded;
      MpfrNumber above = rounded;
      mpfr_nextbelow(below.get());
      mpfr_nextabove(above.get());
      const Rational distance = abs(rounded.rational() - fine.rational());
      if (distance > abs(below.rational() - fine.rational()) ||
          distance > abs(above.rational() - fine.rational())) {
        FAIL("log_rounded(" << u << ", " << p << ") is not nearest");
      }
    }
  }
  CHECK(log_rounded(1.0, 53).nearest_double() == 0);
  CHECK(mpfr_signbit(log_rounded(1.0, 53).get()) == 0);
  CHECK(log_rounded(0.5, 53).nearest_double() == -0x1.62e42fefa39efp-1);
  CHECK_THROWS_AS(log_rounded(0.0, 53), InvalidParameter);
  CHECK_THROWS_AS(log_rounded(-1.0, 53), InvalidParameter);
  CHECK_THROWS_AS(log_rounded(0.5, 0), InvalidParameter);
}
