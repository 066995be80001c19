// Days of the calendar. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epsilog::engine {

/// Days since 1970-01-01 of "YYYY-MM-DD" in the proleptic Gregorian calendar, years 0000 to 9999.
/// Ensures  false, leaving `days` alone, for any other text and for dates that do not exist.
[[nodiscard]] bool parse_date(std::string_view text, std::int64_t& days);
/// Requires  a day that parse_date can give.
[[nodiscard]] std::string date_text(std::int64_t days);

}  // namespace epsilog::engine
