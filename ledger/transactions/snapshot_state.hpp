// What a Snapshot holds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "epsilog/ledger/record.hpp"
#include "ledger_state.hpp"
#include "queries.hpp"

namespace epsilog::ledger {

/// A pooled reader connection inside a deferred transaction that has read once; where it was let go, only
/// while something is read.
class SnapshotState final {
 public:
  explicit SnapshotState(std::shared_ptr<LedgerState> ledger);
  ~SnapshotState();
  SnapshotState(const SnapshotState&) = delete;
  SnapshotState& operator=(const SnapshotState&) = delete;

  /// Begins the transaction.
  /// Requires  it has not begun.
  void begin();
  /// Requires  no statement is in use.
  void end() noexcept;
  /// As Snapshot::keep_open() and close_between_reads().
  void keep_open();
  void close_between_reads() noexcept;
  /// Ends the slice that is being read, does something, and begins the next one. Where the snapshot is held
  /// there is but one.
  /// Requires  within run_read(), no statement in use.
  template <class Step>
  void between_slices(Step step) {
    if (!open_throughout) end();
    step();
    if (!open_throughout) begin();
  }

  /// Runs a read and translates what goes wrong.
  template <class Read>
  auto run_read(Read read) {
    ledger->require_own_process();
    try {
      const ReadScope opened(*this);
      return read(*connection);
    } catch (const StorageFailure& failure) {
      fit = false;
      throw_translated(failure, "ledger " + ledger->files().database);
    }
  }

  /// The same of one that is over at once and looks at nothing that changes: where the snapshot was let go,
  /// each statement of it is a transaction of its own, which is all that such a read needs.
  template <class Read>
  auto run_lookup(Read read) {
    ledger->require_own_process();
    try {
      std::optional<ReadingGate::Reader> passes;
      if (reader == nullptr) passes.emplace(ledger->gate());
      return read(*connection);
    } catch (const StorageFailure& failure) {
      fit = false;
      throw_translated(failure, "ledger " + ledger->files().database);
    }
  }

  /// The row of meta, which each slice reads once at most.
  /// Requires  within run_read().
  /// Throws    LedgerCorrupt.
  [[nodiscard]] const Meta& meta() {
    if (!meta_) meta_ = read_meta(*connection);
    return *meta_;
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
  bool open_throughout = true;     ///< also while nothing is read
  bool fit = true;                 ///< for another snapshot
  std::int64_t durable_below = 0;  ///< as found so far
  bool gave_up = false;            ///< on what is not below: waited for once
  std::int64_t replica_size = -1;  ///< as meta has it; -1: not read yet
  std::int64_t replicated = 0;     ///< lines that the replica holds, as found so far
  bool replica_gave_up = false;    ///< likewise

 private:
  std::optional<Meta> meta_;

  /// The transaction, for a read that finds none.
  class ReadScope final {
   public:
    explicit ReadScope(SnapshotState& state) : state_(state), begins_(state.reader == nullptr) {
      if (begins_) state.begin();
    }
    ReadScope(const ReadScope&) = delete;
    ReadScope& operator=(const ReadScope&) = delete;
    ~ReadScope() {
      if (begins_) state_.end();
    }

   private:
    SnapshotState& state_;
    const bool begins_;
  };
};

}  // namespace epsilog::ledger
