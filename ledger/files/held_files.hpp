// Keeps a ledger's files in place while this process has them open.
//
// SQLite's locks are POSIX locks. They belong to the process: a second SQLite library in it does not see
// them, and any code that closes a descriptor of the file drops them. Another program then finds a ledger
// that nobody uses, moves the log into the database and removes the log. The next COMMIT would be durable in
// a file without a name.
//
// So the process holds two descriptors of its own for each database file, with open-file-description locks.
// Only closing these very descriptors drops them:
//   the database  a read lock on the 510 bytes of SQLite's shared range, taken before the first connection.
//                 No program gets the exclusive lock under which SQLite removes a log.
//   the index     a read lock on byte 128 of L-shm, taken once SQLite has it open. No program takes the index
//                 for one that nobody uses and begins it anew.
// All connections of the process share the two. They are closed after the last connection is: closing a
// descriptor earlier would itself drop SQLite's locks. A forked child closes its copies (lock_file.hpp),
// which drops nothing of the parent's.
#pragma once

#include <sys/types.h>

#include <optional>

#include "epsilog/accounting/callback.hpp"
#include "ledger_files.hpp"

namespace epsilog::ledger {

struct HeldLedger;

/// The hold of one connection. Thread-safety: one thread at a time; several objects at once.
class HeldFiles final {
 public:
  /// Takes the lock on the database, if no other connection of this process has it yet.
  /// Requires  no connection that is not held has this file open.
  /// Throws    LedgerBusy: another program is closing the ledger, or the system refused;
  ///           LedgerUnusable: the system has no such locks, or this user may not.
  explicit HeldFiles(const LedgerFiles& files);
  HeldFiles(const HeldFiles&) = delete;
  HeldFiles& operator=(const HeldFiles&) = delete;
  /// Requires  the connection is closed.
  ~HeldFiles();

  /// Takes the lock on the index, and keeps which log and index are open.
  /// Requires  the connection has read, so that SQLite has both open.
  /// Throws    as the constructor; FilesReplaced: another connection of this process has other files open.
  void hold_index();

  /// Whether the three names still lead to the files that are open.
  /// Throws  LedgerBusy, LedgerUnusable: it cannot be told.
  [[nodiscard]] bool is_in_place() const;

  /// Calls `change` while the database is not held: SQLite changes the journal mode under its exclusive lock.
  /// Throws  LedgerBusy unless this is the only connection of the process.
  template <class Change>
  void without_database(Change change) {
    unlock_database();
    try {
      change();
    } catch (...) {
      lock_database();
      throw;
    }
    lock_database();
  }

 private:
  void unlock_database();
  void lock_database();
  [[nodiscard]] int try_to_begin();
  [[nodiscard]] int try_to_hold_index();

  const LedgerFiles files_;
  const pid_t process_;
  HeldLedger* held_ = nullptr;  // of the process, while it has holders
  FileIdentity database_{};     // what the connection has open, from hold_index() on
  std::optional<FileIdentity> log_;
  std::optional<FileIdentity> index_;
};

/// Calls `use`, unless this process holds the file. Nothing of this process begins or ends a hold meanwhile,
/// so that nothing closes a descriptor of the file that `use` has open.
void use_unless_held(const LedgerFiles& files, accounting::CallbackRef<void()> use);

/// The system call that takes or gives up such a lock, and whether names are compared. Tests change them.
struct HeldFileCalls {
  /// Sets a lock of that type (F_RDLCK, F_UNLCK). Returns 0 or the system's error.
  int (*lock)(int file, short type, off_t start, off_t length);
  bool compare_names = true;
};
[[nodiscard]] HeldFileCalls& held_file_calls() noexcept;

}  // namespace epsilog::ledger
