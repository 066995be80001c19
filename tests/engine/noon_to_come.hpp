// A time at which tests that live by the calendar start.
#pragma once

#include <chrono>
#include <cstdint>

#include "epsilog/ledger/clock.hpp"

namespace epsilog::test {

/// Noon of a tenth day of a month to come, so that no test runs over the end of a day or a month.
inline ledger::ClockReading noon_to_come() {
  namespace chrono = std::chrono;
  ledger::ClockReading reading = ledger::system_clock_reading();
  const auto today = chrono::floor<chrono::days>(
      chrono::sys_time<chrono::milliseconds>(chrono::milliseconds(reading.wall_ms)));
  const chrono::year_month_day date(today);
  const chrono::sys_days tenth{(chrono::year_month(date.year(), date.month()) + chrono::months(2)) /
                               chrono::day(10)};
  const std::int64_t noon =
      chrono::duration_cast<chrono::milliseconds>(tenth.time_since_epoch() + chrono::hours(12)).count();
  reading.boot_ms += noon - reading.wall_ms;
  reading.wall_ms = noon;
  return reading;
}

}  // namespace epsilog::test
