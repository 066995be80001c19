// The words of how sources are written, and of the calendar.
#pragma once

#include "epsilog/engine/calendar_period.hpp"
#include "epsilog/engine/source_dialect.hpp"
#include "words.hpp"

namespace epsilog::engine {

inline constexpr Words<Encoding::windows_1252> kEncodingWords({"utf-8", "latin-1", "windows-1252"});
inline constexpr Words<DateFormat::month_day_year> kDateFormatWords({"YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY",
                                                                     "MM/DD/YYYY"});
inline constexpr Words<CalendarPeriod::year> kPeriodWords({"day", "week", "month", "quarter", "year"});

}  // namespace epsilog::engine
