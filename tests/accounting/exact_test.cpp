#include "epsilog/accounting/exact.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using epsilog::InvalidParameter;
using namespace epsilog::accounting;

// What must not compile is in tests/compile/inexact_arguments.cpp too, with the error it gives.
static_assert(!std::is_constructible_v<Exact, double>);
static_assert(!std::is_constructible_v<Exact, float>);
static_assert(!std::is_constructible_v<Exact, long double>);
static_assert(!std::is_constructible_v<Exact, bool>);
static_assert(!std::is_constructible_v<Exact, mpf_class>);
static_assert(!std::is_constructible_v<Exact, decltype(Rational() * 0.5)>);
static_assert(!std::is_assignable_v<std::optional<Exact>&, double>);
static_assert(std::is_constructible_v<Exact, decltype(Rational() * 2 - Integer())>);

TEST_CASE("exact: a rational as it was built is in canonical form as an argument", "[accounting][exact]") {
  const auto same = [](const Exact& value, const char* text) {
    return value.rational().get_num() == Rational(text).get_num() &&
           value.rational().get_den() == Rational(text).get_den();
  };
  CHECK(same(Rational(1, -10), "-1/10"));
  CHECK(same(Rational(-3, -9), "1/3"));
  CHECK(same(Rational(2, 4), "1/2"));
  CHECK(same(Rational(0, -7), "0/1"));
  CHECK(same(Rational(1, 3) * 3, "1/1"));
  CHECK(same(Exact(), "0/1"));
}

TEST_CASE("exact: a denominator of zero is refused", "[accounting][exact][negative]") {
  CHECK_THROWS_AS(Exact(Rational(1, 0)), InvalidParameter);
  CHECK_THROWS_AS(Exact(Rational(0, 0)), InvalidParameter);
}

TEST_CASE("exact: whole numbers of every type keep their value", "[accounting][exact]") {
  CHECK(Exact(-7) == Rational(-7));
  CHECK(Exact(std::numeric_limits<std::int64_t>::min()).rational().get_str() == "-9223372036854775808");
  CHECK(Exact(std::numeric_limits<std::uint64_t>::max()).rational().get_str() == "18446744073709551615");
  CHECK(Exact(std::numeric_limits<long long>::min()).rational().get_str() == "-9223372036854775808");
  CHECK(Exact(static_cast<unsigned char>(200)) == 200);
  CHECK(Exact(Integer("123456789012345678901234567890")).rational().get_str() ==
        "123456789012345678901234567890");
}

TEST_CASE("exact: numbers compare by value", "[accounting][exact]") {
  CHECK(Exact(Rational(2, 4)) == Rational(1, 2));
  CHECK(Exact(Rational(1, -10)) < 0);
  CHECK(Exact(Rational(1, 3)) > Rational(1, 4));
  CHECK(Exact(3) >= 3);
  CHECK(Exact(3) != 4);
}
