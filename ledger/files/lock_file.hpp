// A file that is kept open to be locked.
//
// An flock belongs to its open file description, and a forked child shares it: it would keep the lock of a
// parent that was killed, and a parent that lets go of it by closing would keep it as long as the child
// lives. So a child closes every LockFile of its process before fork() returns there (pthread_atfork,
// registered once). A program that is executed, also by posix_spawn or vfork, gets none: O_CLOEXEC. No fork
// comes between the opening of one and its being known: both happen under a mutex that fork() takes, and
// nobody waits for anything while it is held. Who calls the kernel's clone itself, past all of this, must
// execute a program.
#pragma once

#include <string>

#include "ledger_files.hpp"

#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

class LockFile final {
 public:
  /// `open` opens the file of that name, or gives an invalid descriptor. What it throws comes out.
  /// Throws  LedgerBusy if forked children cannot be seen to.
  LockFile(std::string path, accounting::CallbackRef<Descriptor()> open);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  [[nodiscard]] const Descriptor& descriptor() const noexcept { return descriptor_; }
  /// Never again in a forked child.
  [[nodiscard]] bool valid() const noexcept { return descriptor_.valid(); }
  /// Whether it is still the file of that name: a lock on a removed file keeps nobody out.
  [[nodiscard]] bool named() const;

  /// False if somebody else has it.
  /// Throws  LedgerBusy, LedgerUnusable.
  [[nodiscard]] bool try_lock() const;
  /// Waits for it. Returns 0 or the system's error.
  [[nodiscard]] int lock() const noexcept;
  void unlock() const noexcept;

  /// In a child, on its only thread.
  void leave_to_parent() noexcept { descriptor_ = Descriptor(); }

 private:
  const std::string path_;
  Descriptor descriptor_;
};

/// Opens a lock file for reading and writing, and makes it if it is not there. It gets the owner and the
/// access of the ledger, whoever makes it: what root left behind must not keep the owner out, and whoever may
/// read the ledger may read what L.lock says of it.
/// Throws  LedgerBusy, LedgerUnusable.
[[nodiscard]] Descriptor open_lock_file(const LedgerFiles& files, const std::string& path);

/// The same rights again, of one that was opened before.
void share_lock_file(const LedgerFiles& files, const Descriptor& lock_file);

}  // namespace epsilog::ledger
