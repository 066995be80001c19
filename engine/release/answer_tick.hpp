// When what was read from data may leave.
//
// How long an answer took to compute can depend on the rows. So that nobody who watches clocks learns of it,
// such an answer is recorded and told at the first tick that is at least `after` behind the arrival of its
// request; what took longer waits for a later one, and that much stays visible. Ledger time shows ticks only
// (EngineOptions::ledger_options()), and what is due at one tick is recorded in order of arrival.
//
// Ticks are multiples of `every` of the wall clock, counted by CLOCK_MONOTONIC, so that a wall clock that is
// set makes nobody wait: from then on they are where the clock has them.
#pragma once

#include <chrono>
#include <mutex>

#include "epsilog/engine/engine_options.hpp"

namespace epsilog::engine {

/// Thread-safety: may be used from several threads.
class AnswerTicks final {
 public:
  using Clock = std::chrono::steady_clock;

  /// Requires  values within their ranges.
  explicit AnswerTicks(const TickedAnswers& answers);

  /// Of what arrived then and is ready now: not before now, and the same for all of one tick.
  [[nodiscard]] Clock::time_point due(Clock::time_point arrived);
  /// Waits for it: what is wrong with data is told at a tick as well.
  void wait(Clock::time_point arrived);

 private:
  const std::chrono::milliseconds after_;
  const std::chrono::milliseconds every_;
  std::mutex mutex_;          // guards what follows
  Clock::time_point origin_;  // of the ticks
};

}  // namespace epsilog::engine
