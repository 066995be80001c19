// What happened to a ledger besides decisions: policy versions, limits, recoveries, credentials, keys, the
// clock.
//
// Every kind of record that is no decision, plan or account is told, also one that this program has no words
// for. Thread-safety: each call reads a view of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epsilog/engine/engine_options.hpp"
#include "epsilog/ledger/snapshot.hpp"

namespace epsilog::engine {

struct LedgerEvent {
  std::int64_t line = 0;            ///< the index of its line
  std::int64_t after_decision = 0;  ///< the seq of the last decision before it, 0 if there is none
  std::string kind;                 ///< of its record: "policy", "recovery", …; "" if it cannot be read
  std::string at;                   ///< ledger time; "" likewise
  std::string dataset = {};         ///< that it is about; "" = the ledger as a whole
  std::string what;                 ///< what happened, in words
  std::string by = {};              ///< "" = nobody: a clock does not ask
  std::string why = {};             ///< "" = no reason was given
  /// What a policy version lets more be asked or spent, or asks less consent for, one sentence a change.
  std::vector<std::string> looser = {};
  /// Of a policy version: what became of the limits of accounts that were open, one sentence each.
  std::vector<std::string> limits = {};
};

/// Whether the event shows that history was taken back or put together again: a recovery, a backup put back,
/// a seal.
[[nodiscard]] bool is_recovery(const LedgerEvent& event);

/// Which events are asked for.
struct EventQuestion {
  std::string dataset = {};         ///< those about it, and about the ledger as a whole; "" = all
  std::int64_t after_decision = 0;  ///< those after the decision with that seq; 0 = all
};

/// Reads the events in the order of the log. An event that cannot be read is told as one without a kind.
/// Throws  LedgerBusy, LedgerIo, LedgerCorrupt.
[[nodiscard]] std::vector<LedgerEvent> ledger_events(ledger::Snapshot& view,
                                                     const EventQuestion& question = {});

/// The same for the ledger of that path, opened for reading.
/// Throws  LedgerUnusable, too.
[[nodiscard]] std::vector<LedgerEvent> ledger_events(const std::string& ledger_path,
                                                     const EventQuestion& question = {},
                                                     const EngineOptions& options = {});

}  // namespace epsilog::engine
