// A ledger with a replica, and the replica's system calls to fail, count and remember.
#pragma once

#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "replica_file.hpp"

namespace epsilog::ledger_tests {

/// A policy whose text names a replica: the file of that name beside the ledger, if it is not absolute; ""
/// none.
[[nodiscard]] ledger::PolicyVersion policy_with_replica(const std::string& name, bool synced = true);
/// Reads the replicas of such policies, those of ledgers in that directory.
[[nodiscard]] ledger::Options replicating(const std::string& directory);

/// One dataset "clinic" with an epsilon account, and a replica beside it.
struct ReplicatedLedger {
  explicit ReplicatedLedger(const std::string& name = "replica", bool synced = true);
  [[nodiscard]] ledger::Ledger open() const {
    return ledger::Ledger::open(path, replicating(directory.path()));
  }
  [[nodiscard]] ledger::Snapshot look() const { return ledger::Ledger::open_read_only(path).snapshot(); }

  TemporaryDirectory directory;
  std::string path;
  std::string replica;
};

/// Of a file of mode 0600.
void write_file(const std::string& path, const std::string& bytes);
/// The database with what SQLite has beside it, in place of what is there.
void copy_ledger(const std::string& from, const std::string& to);
void remove_ledger(const std::string& path);

/// Whether the file is that of the ledger: every line in order, trailers that are right, the last at the end.
/// Says what is wrong; "" nothing.
[[nodiscard]] std::string replica_fault(const std::string& replica, ledger::Snapshot snapshot);

/// While one lives, what is done to a replica is one of the operations of a storage layer: counted, failed
/// and recorded with those of the database.
class ReplicaCallsOf final {
 public:
  explicit ReplicaCallsOf(FaultVfs& vfs, std::string replica);
  ReplicaCallsOf(const ReplicaCallsOf&) = delete;
  ReplicaCallsOf& operator=(const ReplicaCallsOf&) = delete;
  ~ReplicaCallsOf();

  /// The next sync fails, and the kernel holds for clean what it was to cover.
  void fail_next_sync();
  /// Bytes that the file has already are not written again: what a comparison would do.
  void pass_over_same_bytes();

 private:
  ledger::ReplicaCalls before_;
};

/// While one lives, one of the calls fails with that error: the next, or it and all later ones.
class FailingReplica final {
 public:
  enum class Call { write, short_write, sync, cut, reserve };
  FailingReplica(Call call, int error, bool from_then_on = true);
  FailingReplica(const FailingReplica&) = delete;
  FailingReplica& operator=(const FailingReplica&) = delete;
  ~FailingReplica();
  [[nodiscard]] static bool failed();

 private:
  ledger::ReplicaCalls before_;
};

}  // namespace epsilog::ledger_tests
