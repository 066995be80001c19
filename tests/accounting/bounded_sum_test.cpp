#include "epsilog/accounting/bounded_sum.hpp"

#include "support/catch.hpp"

using namespace epsilog::accounting;

namespace {

Rational exact(const std::vector<Rational>& terms) {
  Rational sum = 0;
  for (const Rational& term : terms) sum += term;
  return sum;
}

/// 1/(10^digits + odd), whose denominator has one digit more than `digits`.
Rational tiny(long digits, long odd) {
  return 1 / (power_of_ten(digits) + odd);
}

bool is_multiple_of_rounding(const Rational& value) {
  return Rational(value * power_of_two(kSumRoundingBits)).get_den() == 1;
}

bool is_short(const Rational& value) {
  const Integer limit = power_of_ten(static_cast<long>(kSumDigitsMax)).get_num();
  return abs(value.get_num()) < limit && value.get_den() < limit;
}

}  // namespace

TEST_CASE("bounded sum: N times 1/N is 1 for every N up to 10,000", "[accounting][sum][exact]") {
  CHECK(sum_up({}) == 0);
  for (long n = 1; n <= 10'000; n += n < 100 ? 1 : 199) {
    CAPTURE(n);
    CHECK(sum_up(std::vector<Rational>(static_cast<std::size_t>(n), Rational(1, n))) == 1);
  }
  CHECK(sum_up(std::vector<Rational>(10'000, Rational(1, 10'000))) == 1);
}

TEST_CASE("bounded sum: 1/1 + 1/2 + … + 1/9000 is exact, and its next terms are not",
          "[accounting][sum][exact]") {
  // lcm(1, …, 9000) has 3,902 digits, lcm(1, …, 10000) has 4,349.
  std::vector<Rational> terms;
  for (long n = 1; n <= 9'000; ++n) terms.emplace_back(1, n);
  CHECK(sum_up(terms) == exact(terms));
  for (long n = 9'001; n <= 10'000; ++n) terms.emplace_back(1, n);
  CHECK(sum_up(terms) > exact(terms));
}

TEST_CASE("bounded sum: the example of docs/record_format.md comes out", "[accounting][sum][documents]") {
  const std::vector<Rational> terms{tiny(3'999, 1), Rational(1, 17)};
  CHECK(exact(terms).get_den() >= power_of_ten(4'000).get_num());
  const Integer n = floor(power_of_two(1'024) / 17);
  CHECK(sum_up(terms) == (n + 1) * power_of_two(-1'024));
  CHECK(sum_up(std::vector{Rational(1, 3), Rational(1, 7)}) == Rational(10, 21));
}

TEST_CASE("bounded sum: a sum of 4,000 digits stays and one of 4,001 digits is rounded",
          "[accounting][sum]") {
  const Rational longest = tiny(3'999, 1);
  const Rational too_long = tiny(4'000, 1);
  const Integer most = power_of_ten(4'000).get_num() - 1;
  CHECK(sum_up(std::vector{longest}) == longest);
  CHECK(sum_up(std::vector{too_long}) == power_of_two(-1'024));
  CHECK(sum_up(std::vector<Rational>{Rational(most)}) == Rational(most));
  CHECK(sum_up(std::vector<Rational>{Rational(-most)}) == Rational(-most));
  // A whole number is a multiple of every power of two below 1, however long.
  CHECK(sum_up(std::vector<Rational>{Rational(most), Rational(1)}) == Rational(most) + 1);
  CHECK(sum_up(std::vector<Rational>{Rational(-too_long)}) == 0);
}

TEST_CASE("bounded sum: the order of terms decides where a sum is rounded", "[accounting][sum]") {
  const Rational a = tiny(3'000, 1);
  const Rational b = tiny(3'000, 3);
  // What cancels early leaves nothing to round.
  CHECK(sum_up(std::vector<Rational>{a, Rational(1 - a), b}) == 1 + b);
  const Rational rounded = sum_up(std::vector<Rational>{a, b, Rational(1 - a)});
  CHECK(rounded > 1 + b);
  CHECK(rounded < 1 + b + power_of_two(-1'024));
}

TEST_CASE("bounded sum: a sum is never below the exact one and above it by less than 2^-1024 a term",
          "[accounting][sum][property]") {
  std::mt19937_64 random(20'260'105);  // NOLINT(cert-msc51-cpp): repeatable
  int rounded = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    std::vector<Rational> terms;
    const auto count = 1 + random() % 40;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto digits = static_cast<long>(random() % 900);
      const Rational below = power_of_ten(digits) + static_cast<long>(random() % 1'000);
      Rational term = Rational(static_cast<long>(random() % 1'000'000)) / (below == 0 ? Rational(1) : below);
      if (random() % 5 == 0) term = -term;
      terms.push_back(std::move(term));
    }
    const Rational sum = sum_up(terms);
    const Rational whole = exact(terms);
    CHECK(sum >= whole);
    CHECK(sum < whole + static_cast<long>(count) * power_of_two(-kSumRoundingBits));
    CHECK(is_short(sum));
    if (sum != whole) ++rounded;
    if (is_short(whole) && count == 1) CHECK(sum == whole);
  }
  CHECK(rounded > 100);
  CHECK(rounded < 290);
}

TEST_CASE("bounded sum: ten thousand fractions of 400 digits have a sum that is short",
          "[accounting][sum][performance]") {
  std::vector<Rational> terms;
  for (long i = 0; i < 10'000; ++i) terms.push_back(tiny(399, 2 * i + 1));
  const Rational sum = sum_up(terms);
  CHECK(is_short(sum));
  CHECK(sum < 1);
  CHECK_FALSE(is_multiple_of_rounding(tiny(399, 1)));
}
