// Whether what a recovery makes still has the last line that L.lock remembers.
#pragma once

#include <cstdint>

#include "end_mark.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "from_replica.hpp"

namespace epsilog::ledger {

/// Where the lines of a recovered ledger come from. The first lines that two of them have are the same
/// (require_one_history).
struct RecoveredLines {
  Connection* ledger = nullptr;             ///< the ledger or its backup, if there is one
  const ReplicaFile* replica = nullptr;     ///< the replica, if there is one
  const ReplicaContent* content = nullptr;  ///< what the replica holds
};

/// Returns both numbers where the remembered line is missing and that is accepted, else zeros.
/// Throws  LinesMissing where it is not accepted; StorageFailure, LedgerCorrupt, ReplicaUnavailable.
[[nodiscard]] AcceptedRollback accepted_rollback(const EndMarkReading& remembered,
                                                 const RecoveredLines& lines, const LedgerFiles& files,
                                                 bool accept_rollback);

}  // namespace epsilog::ledger
