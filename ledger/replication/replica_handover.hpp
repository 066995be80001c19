// What happens to a replica that the policy names no more.
//
// Somebody may restore a backup from before the policy moved the replica, and would then believe the old file. So
// the transaction that moves or ends a replica notes that the old file does not say so yet. After COMMIT, and in
// each later turn until it works, the lines up to that policy version are appended to the old file. It then ends
// with the policy that replaced it, and a restore from it says so.
//
// Thread-safety: used under the writer lock.
#pragma once

#include <string>

#include "connection.hpp"
#include "epsilog/ledger/ledger_options.hpp"
#include "ledger_files.hpp"
#include "stale_replicas.hpp"

namespace epsilog::ledger {

/// Appends what the file lacks. Returns "", or why that could not be done: a file that is not there, ahead,
/// damaged or of another history is not written to.
/// Throws  StorageFailure.
[[nodiscard]] std::string close_stale_replica(Connection& connection, const StaleReplica& stale,
                                              const LedgerFiles& files);

/// Why what a replica holds may not be all that was recorded: it ends with the policy version that replaced it.
/// `ledger` has been made of it, and `used` is its path. "" if it does not end so, or if that version names it.
/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] std::string replacement_notice(Connection& ledger, const std::string& used,
                                             const Options& options);

}  // namespace epsilog::ledger
