#include "ledger_clock.hpp"

#include <time.h>

#include <algorithm>

#include "epsilog/ledger/ledger_time.hpp"
#include "poison.hpp"

namespace epsilog::ledger {
namespace {

/// A clock that shows a time before 1970 stands here: 0 is stored where there is no time.
constexpr std::int64_t kEarliestMs = 1;

std::int64_t boot_clock_ms() {
  timespec now{};
  if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  return std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

}  // namespace

ClockReading system_clock_reading() {
  static const std::string kBoot = [] {
    std::string id = current_boot_id();
    return id == "unknown" ? std::string() : id;
  }();
  return {.wall_ms = std::clamp<std::int64_t>(wall_clock_ms(), kEarliestMs, kLatestMs),
          .boot_ms = boot_clock_ms(),
          .boot_id = kBoot};
}

void trust(ClockObservation& observation, const ClockReading& reading) {
  observation.state.boot_id = reading.boot_id;
  observation.state.boot_offset = reading.boot_id.empty() ? 0 : observation.now_ms - reading.boot_ms;
  observation.state.held_at.clear();
}

ClockObservation first_observation(const ClockReading& reading) {
  ClockObservation first;
  first.wall_ms = std::clamp<std::int64_t>(reading.wall_ms, kEarliestMs, kLatestMs);
  first.now_ms = first.wall_ms;
  first.state.wall_clock = time_text(first.wall_ms);
  trust(first, reading);
  return first;
}

ClockObservation observe(const Meta& meta, const ClockReading& reading) {
  ClockObservation seen = first_observation(reading);
  const std::int64_t last = parse_time(meta.last_time);
  seen.now_ms = std::max(last, seen.wall_ms);
  const ClockState& before = meta.clock;
  const auto note = [&](const char* kind) {
    seen.events.push_back(
        {.kind = kind, .ledger_time = meta.last_time, .wall_clock = seen.state.wall_clock, .by = ""});
  };

  // Of what it showed before only a note depends: what cannot be read is for the audit, and stops nobody.
  const std::int64_t shown_before = is_time(before.wall_clock) ? parse_time(before.wall_clock) : last;
  const std::int64_t behind = last - kBackwardsMs;
  // One note a step back: a clock that merely stays behind is not news with every release.
  if (seen.wall_ms < behind && (shown_before >= behind || seen.wall_ms < shown_before - kBackwardsMs)) {
    note("backwards");
  }

  trust(seen, reading);
  const bool same_boot = !reading.boot_id.empty() && reading.boot_id == before.boot_id;
  const bool jumped =
      same_boot && seen.wall_ms - reading.boot_ms - kForwardsMs > before.boot_offset && seen.wall_ms > last;
  if (same_boot && !jumped) seen.state.boot_offset = before.boot_offset;
  seen.state.held_at = before.held_at;
  if (jumped) {
    note("forwards");
    if (seen.state.held_at.empty()) seen.state.held_at = meta.last_time;
  }
  return seen;
}

}  // namespace epsilog::ledger
