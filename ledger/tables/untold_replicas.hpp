// Replicas that were replaced and do not say so yet (replica_handover.hpp), as rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/replica.hpp"

namespace epsilog::ledger {

/// A replica that was replaced and does not say so yet.
struct UntoldReplica {
  Replica replica;
  std::int64_t known = 0;  ///< lines that it was known to hold
  std::int64_t size = 0;   ///< lines of the ledger up to and including the policy version that replaced it

  friend bool operator==(const UntoldReplica&, const UntoldReplica&) = default;
};

/// All throw StorageFailure, LedgerCorrupt.
[[nodiscard]] std::vector<UntoldReplica> read_untold(Connection& connection);
void note_untold(Connection& connection, const UntoldReplica& untold);
/// A file that is told, or is the replica again.
void forget_untold(Connection& connection, const std::string& path);
/// What one file says of untold replicas, said by another one too.
void copy_untold(Connection& from, Connection& to);

}  // namespace epsilog::ledger
