#include "replacement.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "ledger_copy.hpp"

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

void replace_pages(LedgerState& ledger, const LedgerFiles& made, std::int64_t decisions) {
  Connection source(made, Connection::Role::immutable);
  Connection& target = ledger.writer();
  ledger.set_commit_mark(decisions + 1);
  copy_pages(source, target);
  ledger.require_recorded_in_place();
  ledger.clear_commit_mark();
}

}  // namespace epsilog::ledger
