#pragma once

#include <functional>
#include <memory>
#include <string>

#include "epsilog/ledger/ledger.hpp"
#include "ledger_state.hpp"

namespace epsilog::ledger {

/// A pooled reader connection inside a deferred transaction that has read once.
struct Snapshot::State {
  explicit State(std::shared_ptr<LedgerState> ledger);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Runs a read and translates what goes wrong.
  template <class Read>
  auto reading(Read read) {
    ledger->require_own_process();
    try {
      return read(*connection);
    } catch (const StorageFailure& failure) {
      throw_translated(failure, "ledger " + ledger->files().database);
    }
  }

  std::shared_ptr<LedgerState> ledger;
  std::unique_ptr<Connection> connection;
};

}  // namespace epsilog::ledger
