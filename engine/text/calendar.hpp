// Stretches of the Gregorian calendar as texts: the names of blocks and of renewing budgets.
//
//   day 2024-01-31   week 2024-W05 (ISO 8601)   month 2024-01   quarter 2024-Q1   year 2024
//
// Days are counted from 1970-01-01, as in parse_date(); years are 0000 to 9999. Names of one kind of period
// order bytewise as they follow each other.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "epsilog/engine/calendar_period.hpp"

namespace epsilog::engine {

/// Inclusive.
struct DayRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const DayRange&, const DayRange&) = default;
};

/// The period in which a day lies.
/// Requires  a day of the years 0000 to 9999; of a week, one whose week begins and ends there.
[[nodiscard]] DayRange period_of(CalendarPeriod period, std::int64_t day);
/// Its name.
[[nodiscard]] std::string period_name(CalendarPeriod period, std::int64_t day);
/// The days of a named period; nothing for a text that is none.
[[nodiscard]] std::optional<DayRange> parse_period(CalendarPeriod period, std::string_view name);
/// A name to show as an example, "2024-01".
[[nodiscard]] std::string_view example(CalendarPeriod period);

}  // namespace epsilog::engine
