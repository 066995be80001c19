#include "exact_sum.hpp"

#include <bit>

#include "support/catch.hpp"

using namespace epsilog::engine;
using namespace epsilog::accounting;

namespace {

template <class Sum>
Rational summed(const std::vector<double>& terms) {
  Sum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

/// Any finite binary64 with equal probability for each exponent: subnormals and the largest included.
double random_double(std::mt19937_64& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

}  // namespace

TEST_CASE("exact sum: terms that cancel in binary64 leave the exact rest", "[engine][exact_sum][exact]") {
  CHECK(summed<BinarySum>({1e308, 1.0, 1e308, -1e308, -1e308}) == 1);
  CHECK(summed<BinarySum>({0.1, 0.2, -0.3}) == Rational(0.1) + Rational(0.2) - Rational(0.3));
  CHECK(summed<BinarySum>({}) == 0);
  CHECK(summed<BinarySum>({-0.0, 0.0}) == 0);
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(summed<BinarySum>({least, least, 1.0, -1.0}) == 2 * Rational(least));
}

TEST_CASE("exact sum: the largest and the smallest numbers neither overflow nor vanish",
          "[engine][exact_sum][exact]") {
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(summed<BinarySum>({largest, largest, largest, least}) == 3 * Rational(largest) + Rational(least));
  CHECK(summed<BinarySquareSum>({largest, -largest, least}) ==
        2 * Rational(largest) * Rational(largest) + Rational(least) * Rational(least));
}

TEST_CASE("exact sum: random doubles of every exponent sum as rationals do, in any order",
          "[engine][exact_sum][overlap]") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> terms(1 + random() % 40);
    Rational sum = 0;
    Rational squares = 0;
    for (double& term : terms) {
      term = random_double(random);
      sum += Rational(term);
      squares += Rational(term) * Rational(term);
    }
    CAPTURE(round);
    REQUIRE(summed<BinarySum>(terms) == sum);
    REQUIRE(summed<BinarySquareSum>(terms) == squares);
    std::shuffle(terms.begin(), terms.end(), random);
    REQUIRE(summed<BinarySum>(terms) == sum);
    REQUIRE(summed<BinarySquareSum>(terms) == squares);
  }
}

TEST_CASE("exact sum: integers of any size sum exactly, and so do their squares",
          "[engine][exact_sum][overlap]") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    IntegerSum sum;
    IntegerSum squares;
    Integer expected = 0;
    Integer expected_squares = 0;
    for (int i = 0; i < 50; ++i) {
      // Sizes spread over all of 0..126 bits, so that both ways of adding are taken.
      const unsigned shift = static_cast<unsigned>(random() % 126);
      const auto bits = (static_cast<UInt128>(random()) << 64 | random()) >> (127 - shift);
      const Int128 term = random() % 2 == 0 ? static_cast<Int128>(bits) : -static_cast<Int128>(bits);
      sum.add(term);
      squares.add_square(term);
      expected += to_integer(term);
      expected_squares += to_integer(term) * to_integer(term);
    }
    CAPTURE(round);
    REQUIRE(sum.value() == expected);
    REQUIRE(squares.value() == expected_squares);
  }
}

TEST_CASE("exact sum: an Int128 becomes the integer it is", "[engine][exact_sum][exact]") {
  CHECK(to_integer(0) == 0);
  CHECK(to_integer(-1) == -1);
  CHECK(to_integer(Int128{1} << 100).get_str() == "1267650600228229401496703205376");
  CHECK(to_integer(-(Int128{1} << 126) * 2).get_str() == "-170141183460469231731687303715884105728");
}
