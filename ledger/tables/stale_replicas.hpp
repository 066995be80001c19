// Replicas that were replaced and do not say so yet (replica_handover.hpp), as rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/replica.hpp"

namespace epsilog::ledger {

/// A replica that was replaced and does not say so yet.
struct StaleReplica {
  Replica replica;
  std::int64_t known = 0;  ///< lines that it was known to hold
  std::int64_t size = 0;   ///< lines of the ledger up to and including the policy version that replaced it

  friend bool operator==(const StaleReplica&, const StaleReplica&) = default;
};

/// All throw StorageFailure, LedgerCorrupt.
[[nodiscard]] std::vector<StaleReplica> read_stale_replicas(Connection& connection);
void insert_stale_replica(Connection& connection, const StaleReplica& stale);
/// A file that is told, or is the replica again.
void delete_stale_replica(Connection& connection, const std::string& path);
/// What one file says of untold replicas, said by another one too.
void copy_stale_replicas(Connection& from, Connection& to);

}  // namespace epsilog::ledger
