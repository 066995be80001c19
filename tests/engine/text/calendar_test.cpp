#include "calendar.hpp"

#include "epsilog/engine/date.hpp"
#include "epsilog/engine/predicate.hpp"
#include "support/catch.hpp"

using namespace epsilog::engine;

namespace {

std::int64_t day(const char* text) {
  std::int64_t days = 0;
  REQUIRE(parse_date(text, days));
  return days;
}

}  // namespace

TEST_CASE("A period is named and found again by its name") {
  struct Row {
    CalendarPeriod period;
    const char* name;
    const char* first;
    const char* last;
  };
  // Weeks as in ISO 8601-1, and as printed by `date +%G-W%V`.
  const Row rows[] = {
      {CalendarPeriod::day, "2024-02-29", "2024-02-29", "2024-02-29"},
      {CalendarPeriod::month, "2024-02", "2024-02-01", "2024-02-29"},
      {CalendarPeriod::month, "2100-02", "2100-02-01", "2100-02-28"},
      {CalendarPeriod::quarter, "2024-Q1", "2024-01-01", "2024-03-31"},
      {CalendarPeriod::quarter, "2023-Q4", "2023-10-01", "2023-12-31"},
      {CalendarPeriod::year, "0007", "0007-01-01", "0007-12-31"},
      {CalendarPeriod::week, "2020-W53", "2020-12-28", "2021-01-03"},
      {CalendarPeriod::week, "2025-W01", "2024-12-30", "2025-01-05"},
      {CalendarPeriod::week, "2021-W01", "2021-01-04", "2021-01-10"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const DayRange expected{day(row.first), day(row.last)};
    CHECK(parse_period(row.period, row.name) == expected);
    for (const std::int64_t inside : {expected.first, expected.last}) {
      CHECK(period_name(row.period, inside) == row.name);
      CHECK(period_of(row.period, inside) == expected);
    }
  }
}

TEST_CASE("A text that names no period is none") {
  CHECK_FALSE(parse_period(CalendarPeriod::day, "2023-02-29"));
  CHECK_FALSE(parse_period(CalendarPeriod::month, "2024-13"));
  CHECK_FALSE(parse_period(CalendarPeriod::month, "2024-1"));
  CHECK_FALSE(parse_period(CalendarPeriod::month, "2024-01-01"));
  CHECK_FALSE(parse_period(CalendarPeriod::quarter, "2024-Q5"));
  CHECK_FALSE(parse_period(CalendarPeriod::quarter, "2024-q1"));
  CHECK_FALSE(parse_period(CalendarPeriod::week, "2021-W53"));  // 2021 has 52
  CHECK_FALSE(parse_period(CalendarPeriod::week, "2021-W00"));
  CHECK_FALSE(parse_period(CalendarPeriod::week, "2021-W99"));
  CHECK_FALSE(parse_period(CalendarPeriod::year, "20240"));
  CHECK_FALSE(parse_period(CalendarPeriod::year, "-024"));
  CHECK_FALSE(parse_period(CalendarPeriod::year, ""));
}

TEST_CASE("Periods follow each other without gaps and in the order of their names") {
  for (const auto period : {CalendarPeriod::day, CalendarPeriod::week, CalendarPeriod::month,
                            CalendarPeriod::quarter, CalendarPeriod::year}) {
    DayRange range = period_of(period, day("1999-12-31"));
    std::string before = period_name(period, range.first);
    while (range.last < day("2009-01-01")) {
      const DayRange next = period_of(period, range.last + 1);
      REQUIRE(next.first == range.last + 1);
      const std::string name = period_name(period, next.first);
      REQUIRE(before < name);
      REQUIRE(parse_period(period, name) == next);
      range = next;
      before = name;
    }
  }
}
