// The marker L.poisoned: an I/O error left unknown what is on disk.
//
// Its mere existence poisons; its content only explains. See docs/recovery.md for why a restart of
// the process is not enough: the kernel's page cache may show commits that never reached the disk.
#pragma once

#include <optional>
#include <string>

#include "commit_mark.hpp"
#include "ledger_files.hpp"

#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

struct PoisonMarker {
  std::string reason;
  std::string boot_id;
  std::string time;
};

/// The kernel's id of this boot, or "unknown".
[[nodiscard]] const std::string& current_boot_id();

/// None when the ledger is not poisoned: when nothing has that name, and the lock file does not say it in its
/// place. Whatever else lies there poisons: a marker that cannot be read, a directory, a device.
[[nodiscard]] std::optional<PoisonMarker> read_poison(const LedgerFiles& files);
/// The same for who has the lock file open, and reads it there if need be.
[[nodiscard]] std::optional<PoisonMarker> read_poison(const LedgerFiles& files,
                                                      accounting::CallbackRef<CommitMark()> mark_left);

/// Throws  LedgerIo unless a ledger is poisoned, the machine was restarted since, and SQLite finds its file
///         sound; as Ledger::recovery_state().
void require_recoverable(const std::string& path, const std::string& boot_id);

/// What a recovery says of it: when, and why.
[[nodiscard]] std::string poison_text(const PoisonMarker& marker);

/// Ensures  the marker and its name are durable, and it is of this boot: of several the first stays, for it
///          names the first cause, and one that another boot left goes on to say what it said.
/// Returns  false if the file system did not even take that.
[[nodiscard]] bool write_poison(const LedgerFiles& files, const std::string& reason) noexcept;

/// The same in the lock file, for when the marker cannot be made. It outlives a reboot if the disk lets it.
/// Requires  the turn is held, of which `lock_file` is the lock.
void write_poison(int lock_file, const std::string& reason) noexcept;

/// What only the lock file says is said by the marker too: durably, before anything else is written there.
/// Requires  the turn is held, of which `lock_file` is the lock.
/// Throws    LedgerIo: the marker cannot be made.
void copy_poison_to_marker(const LedgerFiles& files, int lock_file);

/// Both.
/// Requires  the turn is held, of which `lock_file` is the lock.
/// Throws    LedgerIo.
void remove_poison(const LedgerFiles& files, int lock_file);

}  // namespace epsilog::ledger
