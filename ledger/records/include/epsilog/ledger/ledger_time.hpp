// Ledger time as text: RFC 3339 in UTC with milliseconds, "2026-01-31T23:59:59.999Z", whose bytes order as
// the instants do. Written and read here and nowhere else.
//
// Thread-safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epsilog::ledger {

inline constexpr std::int64_t kMsOfDay = 86'400'000;
inline constexpr std::int64_t kLatestMs = 253'402'300'799'999;  ///< 9999-12-31T23:59:59.999Z

/// Milliseconds since 1970 of the wall clock, UTC.
[[nodiscard]] std::int64_t wall_clock_ms();

/// Requires  milliseconds since 1970, UTC, of a year from 0 to 10000.
/// Ensures   24 characters up to the year 9999.
[[nodiscard]] std::string time_text(std::int64_t ms);

/// Milliseconds since 1970.
/// Ensures  time_text gives the text again; from 1970 to 9999.
/// Throws   LedgerCorrupt if the text is not exactly of that form.
[[nodiscard]] std::int64_t parse_time(std::string_view text);

/// Whether parse_time would take it.
[[nodiscard]] bool is_time(std::string_view text);

}  // namespace epsilog::ledger
