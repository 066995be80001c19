#include "replacement.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace epsilog::ledger {

Workspace::Workspace(const LedgerFiles& ledger, const std::string& suffix) : files_(ledger) {
  files_.database += suffix;
  require_short_path(files_.database);
  remove();
  const Descriptor placeholder(::open(files_.database.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!placeholder.valid() || ::fchmod(placeholder.get(), 0600) != 0) {
    const int error = errno;
    throw_refused("cannot create " + files_.database, error, permission_advice(files_.directory, error));
  }
}

void Workspace::remove() const noexcept {
  for (const std::string& name :
       {files_.database, files_.wal(), files_.shm(), files_.database + "-journal"}) {
    ::unlink(name.c_str());
  }
}

void put_in_place(LedgerState& ledger, const LedgerFiles& made, std::int64_t decisions) {
  Connection source(made, Connection::Role::archived);
  Connection& target = ledger.writer();
  ledger.committing(decisions + 1);
  sqlite3_backup* const backup = sqlite3_backup_init(target.handle(), "main", source.handle(), "main");
  if (backup == nullptr) throw target.last_failure();
  const int copied = sqlite3_backup_step(backup, -1);
  const int ended = sqlite3_backup_finish(backup);
  if (copied != SQLITE_DONE || ended != SQLITE_OK) {
    const int code = ended != SQLITE_OK ? ended : copied;
    throw StorageFailure(code, sqlite3_errstr(code), sqlite3_system_errno(target.handle()));
  }
  ledger.settled();
}

}  // namespace epsilog::ledger
