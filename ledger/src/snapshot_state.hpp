// What a Snapshot holds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "epsilog/ledger/record.hpp"
#include "ledger_state.hpp"

namespace epsilog::ledger {

/// A pooled reader connection inside a deferred transaction that has read once.
class SnapshotState final {
 public:
  explicit SnapshotState(std::shared_ptr<LedgerState> ledger);
  ~SnapshotState();
  SnapshotState(const SnapshotState&) = delete;
  SnapshotState& operator=(const SnapshotState&) = delete;

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

  /// Takes the values out of a decision that is not known to be durable, nor can be made so.
  void withhold(StoredDecision& decision);
  void withhold(std::optional<StoredDecision>& decision) {
    if (decision) withhold(*decision);
  }

  /// Whether the line of that number is known to be where a replica holds it, if there is one.
  [[nodiscard]] bool in_replica(std::int64_t line);

  /// How many of the lines that it shows are known to be durable, or can be made so.
  [[nodiscard]] std::int64_t durable_lines();

  std::shared_ptr<LedgerState> ledger;
  std::unique_ptr<ReadingGate::Reader> reader;  // before the transaction begins, until it has ended
  std::unique_ptr<Connection> connection;
  std::int64_t durable_below = 0;  ///< as found so far
  bool gave_up = false;            ///< on what is not below: waited for once
  std::int64_t replica_size = -1;  ///< as meta has it; -1: not read yet
  std::int64_t replicated = 0;     ///< lines that the replica holds, as found so far
  bool replica_gave_up = false;    ///< likewise
};

}  // namespace epsilog::ledger
