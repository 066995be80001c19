// What stands in the lock file L.lock: from which decision on it is not known what is on disk.
//
// A process that is killed inside COMMIT leaves a transaction in the page cache that no sync covers. Whoever
// opens the ledger then reads it like any other, and a power failure takes it away again. So before COMMIT
// the number of the transaction's first decision is written here, and taken out when COMMIT returned. It
// protects against the death of the process only and is therefore never synced: after a reboot the page cache
// is gone, whatever the disk shows is durable, and a mark of another boot says nothing.
//
// One record of 512 bytes at the start of the file, with a digest, written by whoever holds the turn and in
// one call (docs/ledger_format.md). Thread-safety: pure functions, but for the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ledger_files.hpp"

namespace epsilog::ledger {

struct CommitMark {
  enum class State {
    settled,     ///< all that can be read is durable
    committing,  ///< decisions from `first` on are not known to be
    poisoned,    ///< as the marker L.poisoned, which could not be made
    unreadable,  ///< there is something, and it says nothing
  };
  State state = State::settled;
  std::string boot_id;      ///< of the boot that wrote it; "" of an empty file
  std::int64_t first = 0;   ///< committing: seq, >= 1
  std::string time = {};    ///< poisoned: RFC 3339 UTC
  std::string reason = {};  ///< poisoned

  /// The least seq of which this mark leaves it open, in the boot of that id, whether it is durable.
  [[nodiscard]] std::int64_t first_doubtful_seq(const std::string& this_boot) const;
};

inline constexpr std::size_t kCommitMarkBytes = 512;

/// Exactly kCommitMarkBytes; a longer reason is cut.
[[nodiscard]] std::string commit_mark_bytes(const CommitMark& mark);
/// Nothing at all is settled, and so are zeros: what a power failure leaves of a file that was never synced.
[[nodiscard]] CommitMark parse_commit_mark(std::string_view bytes);

[[nodiscard]] CommitMark read_commit_mark(int lock_file);
/// Of a lock file that is not there: settled. Takes no lock.
[[nodiscard]] CommitMark read_commit_mark(const LedgerFiles& files);

/// Requires  the turn is held, of which `lock_file` is the lock.
/// Returns   0, or errno.
[[nodiscard]] int write_commit_mark(int lock_file, const CommitMark& mark);

}  // namespace epsilog::ledger
