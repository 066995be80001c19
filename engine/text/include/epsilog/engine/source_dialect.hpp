// How a CSV file writes what it says: its bytes, and its dates.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <string_view>

namespace epsilog::engine {

/// latin_1 is ISO 8859-1, which gives each byte the character of its number; windows_1252 has others from
/// 0x80 to 0x9F, and lacks 81 8D 8F 90 9D.
enum class Encoding { utf_8, latin_1, windows_1252 };

enum class DateFormat { year_month_day, day_month_year_dotted, day_month_year, month_day_year };
inline constexpr std::array kDateFormats = {DateFormat::year_month_day, DateFormat::day_month_year_dotted,
                                            DateFormat::day_month_year, DateFormat::month_day_year};

/// The spelling in a policy: utf-8, latin-1, windows-1252.
[[nodiscard]] std::string_view name(Encoding encoding);
/// The spelling in a policy: YYYY-MM-DD, DD.MM.YYYY, DD/MM/YYYY, MM/DD/YYYY.
[[nodiscard]] std::string_view name(DateFormat format);

}  // namespace epsilog::engine
