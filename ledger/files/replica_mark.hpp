// What L.lock says of the replica: how many lines it is known to hold, in this boot.
//
// Who reads never opens the replica, which may lie on a network or belong to nobody that reads. So whoever
// wrote lines there says so here, and no value of a later line is shown. Like the mark of a COMMIT beside it
// (commit_mark.hpp) this is never synced and counts in the boot that wrote it; in another one, what meta says
// does, which is one group behind.
//
// One record of 512 bytes behind the first, with a digest, written in one call by whoever holds the turn.
// Thread-safety: pure functions, but for the files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ledger_files.hpp"

namespace epsilog::ledger {

struct ReplicaMark {
  std::string boot_id;
  std::string ledger_id;
  std::int64_t size = 0;  ///< lines that the replica holds, as surely as the policy wants it
  std::int64_t end = 0;   ///< offset after the trailer that says so
};

[[nodiscard]] std::string replica_mark_bytes(const ReplicaMark& mark);
/// Size 0 of whatever is none.
[[nodiscard]] ReplicaMark parse_replica_mark(std::string_view bytes);

/// Of this boot and that ledger, else size 0.
[[nodiscard]] ReplicaMark read_replica_mark(int lock_file, const std::string& ledger_id);
/// The same for who has not the turn; takes no lock.
[[nodiscard]] ReplicaMark read_replica_mark(const LedgerFiles& files, const std::string& ledger_id);

/// Returns the id of the ledger that the mark is of, in whatever boot it was written; "" if there is no mark.
/// Requires  the writer lock, of which `lock_file` is the file.
[[nodiscard]] std::string ledger_of_replica_mark(int lock_file);

/// If it cannot be written, readers show less than they could.
/// Requires  the turn is held, of which `lock_file` is the lock.
void write_replica_mark(int lock_file, const ReplicaMark& mark) noexcept;

}  // namespace epsilog::ledger
