// A kind of stretch of the Gregorian calendar.
#pragma once

#include <string_view>

namespace epsilog::engine {

/// Weeks are those of ISO 8601.
enum class CalendarPeriod { day, week, month, quarter, year };
/// The spelling in a policy: day, week, month, quarter, year.
[[nodiscard]] std::string_view name(CalendarPeriod period);

}  // namespace epsilog::engine
