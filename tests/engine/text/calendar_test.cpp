#include "calendar.hpp"

#include <algorithm>
#include <array>

#include "checked_rows.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/predicate.hpp"
#include "support/catch.hpp"

using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::string kPeriods = EPSILOG_SOURCE_DIR "/tests/engine/text/periods.tsv";
constexpr std::array kPeriodKinds = {CalendarPeriod::day, CalendarPeriod::week, CalendarPeriod::month,
                                     CalendarPeriod::quarter, CalendarPeriod::year};

CalendarPeriod period_called(const std::string& word) {
  return *std::find_if(kPeriodKinds.begin(), kPeriodKinds.end(),
                       [&](CalendarPeriod period) { return name(period) == word; });
}

std::int64_t day(const std::string& text) {
  std::int64_t days = 0;
  REQUIRE(parse_date(text, days));
  return days;
}

}  // namespace

TEST_CASE("A period is named and found again by its name") {
  // Weeks as in ISO 8601-1, and as printed by `date +%G-W%V`.
  for (const CaseRow& row : rows_of(kPeriods, "is")) {
    CAPTURE(row);
    const CalendarPeriod period = period_called(row[1]);
    const DayRange expected{day(row.at(3)), day(row.at(4))};
    CHECK(parse_period(period, row[2]) == expected);
    for (const std::int64_t inside : {expected.first, expected.last}) {
      CHECK(period_name(period, inside) == row[2]);
      CHECK(period_of(period, inside) == expected);
    }
  }
}

TEST_CASE("A text that names no period is none") {
  for (const CaseRow& row : rows_of(kPeriods, "none")) {
    CAPTURE(row);
    CHECK_FALSE(parse_period(period_called(row[1]), row.at(2)));
  }
}

TEST_CASE("Periods follow each other without gaps and in the order of their names") {
  for (const CalendarPeriod period : kPeriodKinds) {
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
