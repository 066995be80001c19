// How an engine opens its ledger, and whom it tells what happens beside what it is asked.
//
// Thread-safety: values. What is handed in is called on the thread that makes the call.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "epsilog/ledger/clock.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {

/// A decision on record that cannot be read. It stays as it is, open if it was; everything else goes on.
struct UnreadableDecision {
  std::string decision_id;  ///< "" where not even that can be read
  std::string message;
};

struct EngineOptions {
  std::chrono::milliseconds wait{30'000};
  /// Told of each once, by whatever meets it beside what it was called for.
  std::function<void(const UnreadableDecision&)> unreadable = {};
  ledger::Clock clock = ledger::system_clock_reading;  ///< another one only in tests
  /// Called right before each COMMIT: from here on what is asked may be on record. Must not throw.
  std::function<void()> before_commit = {};
  /// Told of what failed without harm to what was recorded.
  std::function<void(const std::string&)> warn = {};
  /// Told, only after a second, who it is that a call waits for.
  std::function<void(const std::string&)> waiting = {};

  [[nodiscard]] ledger::Options ledger_options() const {
    return {.wait = wait, .clock = clock, .before_commit = before_commit, .warn = warn, .waiting = waiting};
  }
};

}  // namespace epsilog::engine
