#include "epsilog/accounting/stored_rational.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;

namespace {

constexpr std::uint64_t kSeed = 20'300'101;
constexpr int kRandomNumbers = 3'000;

Rational read(const std::string& stored) {
  return parse_stored_rational(stored, "x");
}

/// An integer of up to `digits_max` digits, of every length alike.
Integer any_integer(std::mt19937_64& random, std::size_t digits_max) {
  std::string digits(1 + random() % digits_max, '0');
  for (char& digit : digits) digit = static_cast<char>('0' + random() % 10);
  return Integer(digits, 10);
}

/// Of every kind that is recorded: whole numbers, decimals, parts of powers of two, of five and of anything.
Rational any_rational(std::mt19937_64& random) {
  Rational value(any_integer(random, 900));
  const long exponent = static_cast<long>(random() % 1'300);
  switch (random() % 5) {
    case 0:
      break;
    case 1:
      value *= power_of_ten(static_cast<long>(random() % 801) - 400);
      break;
    case 2:
      value *= power_of_two(-exponent);
      break;
    case 3:
      value *= power_of_two(-exponent) * power_of_ten(exponent / 2);
      break;
    default:
      value /= Rational(any_integer(random, 900) + 1);
      break;
  }
  return random() % 2 == 0 ? value : Rational(-value);
}

}  // namespace

TEST_CASE("stored numbers: every text of every number reads back as it, however long",
          "[accounting][rational][exact]") {
  std::vector<Rational> values = {0, -3, Rational(1, 3), Rational(-17, 6), Rational(1, 8)};
  for (const long exponent : {1L, 399L, 400L, 401L, 2'000L, 65'536L}) {
    for (const Rational& extreme : {power_of_ten(exponent), power_of_ten(-exponent), power_of_two(exponent),
                                    power_of_two(-exponent), Rational(7 * power_of_two(-exponent) / 3)}) {
      values.push_back(extreme);
      values.push_back(-extreme);
    }
  }
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < kRandomNumbers; ++i) values.push_back(any_rational(random));
  std::size_t beyond_what_is_typed = 0;
  for (const Rational& value : values) {
    const std::string stored = text(value);
    beyond_what_is_typed += stored.size() > 400 ? 1 : 0;
    CAPTURE(stored.substr(0, 80), stored.size());
    REQUIRE(read(stored) == value);
    REQUIRE(text(read(stored)) == stored);
    REQUIRE(parse_canonical_rational(stored, "x") == value);
  }
  CHECK(beyond_what_is_typed > 1'000);
}

TEST_CASE("stored numbers: a number of half a million digits is read and written at once",
          "[accounting][rational][exact]") {
  // Digit by digit this would take minutes.
  std::string digits(500'000, '7');
  for (const std::size_t point : {0U, 250'000U, 499'999U}) {
    const std::string stored = point == 0 ? digits : digits.substr(0, point) + "." + digits.substr(point);
    REQUIRE(text(read(stored)) == stored);
  }
}

TEST_CASE("stored numbers: what is typed and never recorded is refused, naming where it stands",
          "[accounting][rational][negative]") {
  for (const char* bad : {"",   "-",  "1/0",  "1/",  "/2", "1.",    ".5",    "1e3",   "0x10", "nan",
                          " 1", "1 ", "1/-2", "--1", "+1", "1.2.3", "1/2/3", "1.5/2", "1_0",  "-"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(read(bad), LedgerCorrupt);
  }
  CHECK_THROWS_AS(read(std::string("1\0002", 3)), LedgerCorrupt);
  CHECK_THROWS_WITH(read("1e3"), "x: '1e3' is not an exact number");
  CHECK_THROWS_WITH(read(std::string(500, 'z')), "x: '" + std::string(60, 'z') + "…' is not an exact number");
}

TEST_CASE("stored numbers: what is to come back as it stands is one spelling of each number",
          "[accounting][rational][negative]") {
  // Each is a number, and text() writes it otherwise.
  for (const char* other :
       {"00",     "-0",  "0.0", "-0.0", "01",  "-01",  "00.5", "01.5", "1.0",  "1.50", "-0.50",
        "100.00", "0/3", "2/4", "1/2",  "3/1", "3/10", "01/3", "1/03", "-2/6", "-0/7", "7/125"}) {
    CAPTURE(other);
    CHECK(text(read(other)) != other);
    CHECK_THROWS_WITH(parse_canonical_rational(other, "x"),
                      "x: '" + std::string(other) + "' is not written as that number is recorded");
  }
  for (const char* bad : {"", "-", "1.", ".5", "1e3", "1/0", " 1"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH(parse_canonical_rational(bad, "x"),
                      "x: '" + std::string(bad) + "' is not an exact number");
  }
}

TEMPLATE_TEST_CASE("stored numbers: a quantity reads back from its text, and from that of nothing else",
                   "[accounting][quantity][exact]", EpsilonMeasure, DeltaMeasure, RhoMeasure) {
  const auto parse = [](const std::string& stored) {
    return parse_canonical_quantity<TestType>(stored, "x");
  };
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < kRandomNumbers; ++i) {
    const auto any = static_cast<std::int64_t>(random() >> (random() % 64));
    const auto amount = Quantity<TestType>::from_units(std::abs(any) % TestType::units_max);
    CAPTURE(amount.text());
    REQUIRE(parse(amount.text()) == amount);
  }
  const Rational unit = power_of_ten(-TestType::decimals);
  const Rational most = TestType::units_max * unit;
  CHECK(parse("0").units() == 0);
  CHECK(parse(text(unit)).units() == 1);
  CHECK(parse(text(most)).units() == TestType::units_max);
  for (const Rational& beyond : {Rational(-unit), Rational(unit / 2), Rational(most + unit), Rational(1, 3),
                                 Rational(most * power_of_ten(30)), Rational(-1)}) {
    CAPTURE(text(beyond));
    CHECK_THROWS_WITH(parse(text(beyond)),
                      "x: '" + text(beyond) + "' is not on the grid of " + TestType::name);
  }
  for (const char* other : {"0.0", "-0", "00.1", "0.10", "1/2", "1e-3", "", "+1", " 0.1"}) {
    CAPTURE(other);
    CHECK_THROWS_AS(parse(other), LedgerCorrupt);
  }
}
