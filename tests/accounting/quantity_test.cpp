#include "epsilog/accounting/quantity.hpp"

#include <type_traits>

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;

template <class First, class Second>
concept Addable = requires(First first, Second second) {
  first + second;
};
template <class First, class Second>
concept Comparable = requires(First first, Second second) {
  first < second;
};

static_assert(!Addable<Epsilon, Epsilon>, "adding two losses is a composition theorem and has a name");
static_assert(!std::is_constructible_v<Epsilon, double> && !std::is_convertible_v<double, Epsilon>);
static_assert(!std::is_constructible_v<Epsilon, int> && !std::is_convertible_v<Epsilon, double>);
static_assert(!Comparable<Epsilon, Delta> && !Comparable<Epsilon, Rho> &&
              !std::is_convertible_v<Epsilon, Rho>);

TEST_CASE("quantity: decimals and fractions are read exactly and rounded in the named direction",
          "[accounting][quantity][exact]") {
  CHECK(Epsilon::parse_down("0.1").units() == 100'000'000'000);
  CHECK(Epsilon::parse_down("1/3").units() == 333'333'333'333);
  CHECK(Epsilon::parse_up("1/3").units() == 333'333'333'334);
  CHECK(Epsilon::parse_down("1e-6").text() == "0.000001");
  CHECK(Delta::parse_down("1e-18").units() == 1);
  CHECK(Rho::parse_up("1e-16").units() == 1);
  CHECK(Epsilon::parse_down("1e-13").units() == 0);
  CHECK(Epsilon::parse_up("1e-300").units() == 1);
}

TEST_CASE("quantity: negative amounts and signs are refused in both directions",
          "[accounting][quantity][negative]") {
  for (const char* text : {"-1", "-1e-300", "-0", "nan", "inf", "0x1p-3", "1_000", ".5."}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Epsilon::parse_down(text), InvalidParameter);
    CHECK_THROWS_AS(Epsilon::parse_up(text), InvalidParameter);
  }
  CHECK_THROWS_AS(Epsilon::from_units(-1), InvalidParameter);
}

TEST_CASE("quantity: what does not fit is refused, up to the last unit", "[accounting][quantity][negative]") {
  CHECK(Epsilon::from_units(kUnitsMax).text() == "2305843.009213693952");
  CHECK_THROWS_AS(Epsilon::from_units(kUnitsMax + 1), InvalidParameter);
  CHECK(Epsilon::parse_down("2305843.009213693952").units() == kUnitsMax);
  CHECK(Epsilon::parse_down("2305843.0092136939529").units() == kUnitsMax);
  CHECK_THROWS_AS(Epsilon::parse_up("2305843.0092136939529"), InvalidParameter);
  CHECK_THROWS_AS(Epsilon::parse_down("1e400"), InvalidParameter);
  CHECK(Delta::parse_down("1").units() == DeltaMeasure::units_max);
  CHECK_THROWS_AS(Delta::parse_down("1.000000000000000001"), InvalidParameter);
  CHECK_THROWS_WITH(Delta::parse_down("2"), "delta: is larger than the largest value kept, 1");
}

TEST_CASE("quantity: text reads back to the same units", "[accounting][quantity][exact]") {
  for (const std::int64_t units :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{999'999'999'999}, std::int64_t{1'000'000'000'000},
        std::int64_t{123'456'789'012'345}, kUnitsMax}) {
    CHECK(Epsilon::parse_down(Epsilon::from_units(units).text()).units() == units);
    CHECK(Epsilon::from_units(units).rational() ==
          Epsilon::parse_up(Epsilon::from_units(units).text()).rational());
  }
}
