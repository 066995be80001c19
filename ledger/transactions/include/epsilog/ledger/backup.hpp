// A copy of a ledger that can take its place, and what it takes for that.
//
// A backup is a ledger of its own, in one file: the rows as a snapshot shows them, whatever is written
// meanwhile. It holds only what is durable in the ledger, and everything that was acknowledged before it was
// begun. Put back later it is a ledger that forgot what was spent since: so its replica's lines are put
// behind it, or somebody says by name and reason that the rest is lost, and either is its next line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "epsilog/ledger/merkle_proof.hpp"
#include "epsilog/ledger/stored_fault.hpp"

namespace epsilog::ledger {

/// What backup() made.
struct Backup {
  /// What the ledger was held against before it was copied.
  enum class ReplicaCheck {
    none,      ///< the policy names none
    agrees,    ///< the replica holds what the ledger does, and no more
    unusable,  ///< it could not be used: whether it holds more is not known
  };
  std::string ledger_id = {};
  TreeHead tree = {};  ///< the state that it is of
  std::int64_t decisions = 0;
  std::string last_time = {};  ///< of what was recorded last
  std::int64_t bytes = 0;
  ReplicaCheck replica = ReplicaCheck::none;
  std::vector<StoredFault> faults = {};  ///< why nothing was made; empty if it was
};

/// What whoever knows policies and questions adds to a backup; each may be empty.
struct BackupHooks {
  /// Holds the copy, a ledger at that path that nobody else knows, against itself: what it returns is why
  /// it gets no name.
  std::function<std::vector<StoredFault>(const std::string& path)> verify = {};
  /// Told, now and then, which part is copied, 0..1; `verify` comes after that.
  std::function<void(double)> progress = {};
};

/// What restore() did.
struct Restoration {
  std::string ledger_id = {};
  std::int64_t kept = 0;           ///< lines of the backup
  std::int64_t restored = 0;       ///< lines of the replica that it had not
  TreeHead tree = {};              ///< of the ledger now, the line of the recovery included
  std::string replica = {};        ///< of which the lines are; "" none: what came after the backup is lost
  std::int64_t replica_lines = 0;  ///< how many lines that replica holds
  std::string replica_end = {};    ///< the ledger time of the last of them
  std::int64_t dropped = 0;        ///< as of ReplicaRecovery
  std::int64_t dropped_from = 0;
  std::int64_t dropped_bytes = 0;
  bool truncated = false;
  bool unsealed = false;                 ///< it was sealed, and goes on here
  std::vector<StoredFault> faults = {};  ///< why nothing was done; empty if it was
};

/// How a backup is put back.
struct RestoreOptions {
  std::string by = {};       ///< who does it: on record
  std::string why = {};      ///< and why; not "" where nothing shows what came after the backup
  std::string replica = {};  ///< in place of the one that the backup's policy names; "": that one
  /// Where no replica can be used: what was spent after the backup is lost.
  bool accept_rollback = false;
  bool accept_truncated = false;  ///< as of ReplicaRecoveryOptions
  bool sealed = false;            ///< the backup ends with a seal, and the ledger goes on here
  /// As of BackupHooks: of the backup, and of what is made of it and the replica.
  std::function<std::vector<StoredFault>(const std::string& path)> verify = {};
  /// Throws where what was made, a ledger at that path that nobody else knows, is not to be put back.
  std::function<void(const std::string& path)> check_result = {};
};

}  // namespace epsilog::ledger
