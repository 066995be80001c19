// How a ledger is opened: how long to wait, which clock, and who is told.
#pragma once

#include <chrono>
#include <string>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/ledger/clock.hpp"

namespace epsilog::ledger {

struct Options {
  std::chrono::milliseconds wait{30'000};  ///< for the turn, then LedgerBusy; 0: do not wait
  Clock clock = system_clock_reading;      ///< another one only in tests
  /// Called under the turn right before each COMMIT. Must not throw, nor use the ledger.
  accounting::Callback<void()> before_commit = {};
  /// Told in one sentence of what failed without harm to what was recorded: that the log could not be moved
  /// into the database, say. Must not use the ledger.
  accounting::Callback<void(const std::string&)> warn = {};
  /// Told in one sentence, and only after a second, who it is that a call waits for. Must not use the ledger.
  accounting::Callback<void(const std::string&)> waiting = {};
};

}  // namespace epsilog::ledger
