#include "epsilog/accounting/rational.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;

TEST_CASE("rational: numbers are read exactly", "[accounting][rational][exact]") {
  CHECK(parse_rational("0.1", "x") == Rational(1, 10));
  CHECK(parse_rational("1/3", "x") == Rational(1, 3));
  CHECK(parse_rational("2/6", "x") == Rational(1, 3));
  CHECK(parse_rational("-2.50", "x") == Rational(-5, 2));
  CHECK(parse_rational("1e-6", "x") == Rational(1, 1'000'000));
  CHECK(parse_rational("1.5E+2", "x") == Rational(150));
  CHECK(parse_rational("007", "x") == Rational(7));
  CHECK(parse_rational("-3/4", "x") == Rational(-3, 4));
  CHECK(parse_rational("0.1e1", "x") == Rational(1));
}

TEST_CASE("rational: what is not a plain number is refused, naming the place",
          "[accounting][rational][negative]") {
  const std::vector<std::string> refused = {
      "",      " 1",    "1 ",   "nan", "NaN", "inf",  "-inf", "0x1p-3", "0x10",   "1_000", ".5",
      "5.",    ".5.",   "1.2.", "+1",  "--1", "-",    "-0",   "-0.0",   "1/0",    "1/-3",  "1/ 3",
      "1/3/4", "1.5/2", "1e",   "1e+", "e5",  "1:30", "1,5",  "1e401",  "1e-401", "١",     "1e99999999999999",
      "1/2.5", "0e0x",  "1\n"};
  for (const std::string& text : refused) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_rational(text, "epsilon"), InvalidParameter);
  }
  CHECK_THROWS_AS(parse_rational(std::string(401, '1'), "epsilon"), InvalidParameter);
  CHECK_THROWS_WITH(parse_rational("abc", "epsilon"),
                    "epsilon: 'abc' is not a number: write it as 0.25, 1e-6 or 1/3");
}

TEST_CASE("rational: canonical text is a decimal where one exists, else a fraction",
          "[accounting][rational][exact]") {
  CHECK(text(Rational(1, 10)) == "0.1");
  CHECK(text(Rational(-5, 2)) == "-2.5");
  CHECK(text(Rational(1, 3)) == "1/3");
  CHECK(text(Rational(0)) == "0");
  CHECK(text(Rational(1200)) == "1200");
  CHECK(text(Rational(-7)) == "-7");
  CHECK(text(power_of_two(-20)) == "0.00000095367431640625");
  CHECK(text(Rational(7, 6)) == "7/6");
  CHECK(text(Rational(-1, 1000)) == "-0.001");
}

TEST_CASE("rational: text and parsing are inverse on every small fraction",
          "[accounting][rational][exhaustive]") {
  for (long numerator = -60; numerator <= 60; ++numerator) {
    for (long denominator = 1; denominator <= 60; ++denominator) {
      Rational value(numerator, denominator);
      value.canonicalize();
      CHECK(parse_rational(text(value), "x") == value);
    }
  }
}

TEST_CASE("rational: rounded texts keep their side and their digits", "[accounting][rational][exact]") {
  for (const auto& value : {Rational(1, 3), Rational(-1, 3), Rational(200, 3), Rational(1, 7'000'000),
                            Rational(10), Rational(-99999, 7), Rational(1, 1024)}) {
    for (const unsigned digits : {1U, 5U, 17U, 40U}) {
      const Rational up = parse_rational(text_up(value, digits), "up");
      const Rational down = parse_rational(text_down(value, digits), "down");
      CAPTURE(text(value), digits);
      CHECK(down <= value);
      CHECK(value <= up);
      // One unit in the last promised digit is at most |value| * 10^(1 - digits).
      CHECK(up - down <= abs(value) * power_of_ten(1 - static_cast<long>(digits)));
    }
  }
  CHECK(text_up(Rational(0), 17) == "0");
  CHECK(text_up(Rational(1, 4), 17) == "0.25");
}

TEST_CASE("rational: hexfloat text exists exactly for the finite doubles", "[accounting][rational][exact]") {
  CHECK(hexfloat_text(Rational(3)) == "0x1.8p+1");
  CHECK(hexfloat_text(Rational(0)) == "0x0p+0");
  CHECK(hexfloat_text(Rational(1, 3)).empty());
  CHECK(hexfloat_text(power_of_two(-1074)) == "0x0.0000000000001p-1022");
  CHECK(hexfloat_text(power_of_two(-1075)).empty());
  CHECK(hexfloat_text(power_of_two(1024)).empty());
  CHECK(hexfloat_text(power_of_two(60) + 1).empty());
  for (const double value : {0.1, -1e300, 5e-324, std::numeric_limits<double>::max()}) {
    CHECK(std::strtod(hexfloat_text(Rational(value)).c_str(), nullptr) == value);
  }
}

TEST_CASE("rational: floor and ceil bracket, negative values included", "[accounting][rational][exact]") {
  CHECK(floor(Rational(-7, 2)) == -4);
  CHECK(ceil(Rational(-7, 2)) == -3);
  CHECK(floor(Rational(7, 2)) == 3);
  CHECK(ceil(Rational(7, 2)) == 4);
  CHECK(floor(Rational(5)) == ceil(Rational(5)));
}
