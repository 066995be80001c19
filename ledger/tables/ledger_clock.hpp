// What the clocks of the machine mean for ledger time and for the calendar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/ledger/clock.hpp"
#include "epsilog/ledger/record.hpp"
#include "queries.hpp"

namespace epsilog::ledger {

/// A wall clock this far behind ledger time is noted.
inline constexpr std::int64_t kBackwardsMs = 1'000;
/// A wall clock this far ahead of what CLOCK_BOOTTIME accounts for holds the calendar.
inline constexpr std::int64_t kForwardsMs = 5 * 60 * 1'000;

/// What a transaction that begins now goes by, and writes if it writes anything.
struct ClockObservation {
  std::int64_t now_ms = 0;         ///< ledger time
  std::int64_t wall_ms = 0;        ///< within 1970..9999
  ClockState state;                ///< as it will be written
  std::vector<ClockEvent> events;  ///< noticed now; seq and after_decision still to be given
};

/// Invariant  state.boot_offset + CLOCK_BOOTTIME is what the wall clock may show in this boot, give or take
///            kForwardsMs. It is fixed by the first write of a boot, not by each, so that many small
///            steps do not pass for none; a jump that was recorded becomes the new reference.
/// Throws     LedgerCorrupt if a time of `meta` is none.
/// Thread-safety: pure function.
[[nodiscard]] ClockObservation observe(const Meta& meta, const ClockReading& reading);

/// What a new ledger starts with.
[[nodiscard]] ClockObservation first_observation(const ClockReading& reading);

/// Nothing held, and the wall clock as it is trusted from here on.
/// Requires  observation is of `reading`.
void trust(ClockObservation& observation, const ClockReading& reading);

}  // namespace epsilog::ledger
