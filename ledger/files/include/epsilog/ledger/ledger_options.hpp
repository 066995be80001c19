// How a ledger is opened: how long to wait, which clock, and who is told.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/ledger/clock.hpp"
#include "epsilog/ledger/replica.hpp"

namespace epsilog::ledger {

struct Options {
  std::chrono::milliseconds wait{30'000};  ///< for the turn, then LedgerBusy; 0: do not wait
  Clock clock = system_clock_reading;      ///< another one only in tests
  /// From that many bytes on the write-ahead log begins anew as soon as readers let it: who writes closes
  /// this process to new snapshots for that, between two COMMITs and for at most 20 ms. Another one only in
  /// tests.
  std::int64_t log_limit = std::int64_t{16} << 20U;
  /// Called under the turn right before each COMMIT. Must not throw, nor use the ledger.
  accounting::Callback<void()> before_commit = {};
  /// Told in one sentence of what failed without harm to what was recorded: that the log could not be moved
  /// into the database, say. Must not use the ledger.
  accounting::Callback<void(const std::string&)> warn = {};
  /// Opens a ledger that has fewer lines than L.lock remembers (LinesMissing). Only for recoveries, which
  /// record it.
  bool accept_missing_lines = false;
  /// Told in one sentence, and only after a second, who it is that a call waits for. Must not use the ledger.
  accounting::Callback<void(const std::string&)> report_wait = {};
  /// Stops every wait for another writer, of this thread or process or another: a call that waits, and a later
  /// one that would have to, throws WaitStopped. A call that need not wait goes on as ever.
  std::stop_token stop = {};
  /// The replica that a policy version names, if any. Asked by who writes; must not use the ledger. What it
  /// throws comes out of begin(), commit() and create(). Without it a ledger that has a replica cannot be
  /// written to.
  accounting::Callback<std::optional<Replica>(const PolicyVersion&)> replica = {};
};

}  // namespace epsilog::ledger
