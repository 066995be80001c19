// What happens to a replica that the policy names no more.
//
// Somebody may restore a backup from before the policy moved the replica, and would then believe the old file. So
// the transaction that moves or ends a replica notes that the old file does not say so yet. After COMMIT, and in
// each later turn until it works, the lines up to that policy version are appended to the old file. It then ends
// with the policy that replaced it, and a restore from it says so.
//
// Thread-safety: used under the writer lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/ledger_options.hpp"
#include "ledger_files.hpp"

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

/// Appends what the file lacks. Returns "", or why that could not be done: a file that is not there, ahead,
/// damaged or of another history is not written to.
/// Throws  StorageFailure.
[[nodiscard]] std::string tell_untold(Connection& connection, const UntoldReplica& untold,
                                      const LedgerFiles& files);

/// Why what a replica holds may not be all that was recorded: it ends with the policy version that replaced it.
/// `ledger` has been made of it, and `used` is its path. "" if it does not end so, or if that version names it.
/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] std::string replaced_at_its_end(Connection& ledger, const std::string& used, const Options& options);

}  // namespace epsilog::ledger
