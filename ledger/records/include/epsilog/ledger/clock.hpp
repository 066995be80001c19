// What the clocks of the machine say. Ledger time is made from it (ledger.hpp, invariants 5 and 15).
#pragma once

#include <cstdint>
#include <string>

#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

/// Both clocks at one instant.
struct ClockReading {
  std::int64_t wall_ms = 0;  ///< milliseconds since 1970, UTC; anybody with the right may set it
  std::int64_t boot_ms = 0;  ///< CLOCK_BOOTTIME, which nobody sets and which goes on in suspension
  std::string boot_id;       ///< of the kernel; "" if unknown, and then the two are not compared
};

using Clock = accounting::Callback<ClockReading()>;

/// The system's clocks. Never fails: what cannot be read is left unknown. The wall clock is given as
/// the nearest instant from 1970 to 9999.
/// Thread-safety: yes.
[[nodiscard]] ClockReading system_clock_reading();

}  // namespace epsilog::ledger
