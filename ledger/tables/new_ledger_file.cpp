// A new ledger is made under a temporary name and gets its own only when it is complete and durable:
// who finds L finds a ledger, and an existing file is never touched.
#include "new_ledger_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "file_system.hpp"
#include "leftover_log.hpp"
#include "replica_mark.hpp"
#include "writer_lock.hpp"

namespace epsilog::ledger {
NewLedgerFile::NewLedgerFile(const LedgerFiles& final_files) : files_(final_files) {
  files_.database += ".creating-" + random_hex_128();
  require_short_path(files_.database);
  // Made here and not by SQLite, so that no umask ever opens it to others. The descriptor is closed
  // before SQLite opens the file, hence before there is a lock to lose.
  const Descriptor placeholder(::open(files_.database.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!placeholder.valid() || ::fchmod(placeholder.get(), 0600) != 0) {
    const int error = errno;
    throw_refused("cannot create " + files_.database, error, permission_advice(files_.directory, error));
  }
}

NewLedgerFile::~NewLedgerFile() {
  for (const std::string& name :
       {files_.database, files_.wal(), files_.shm(), files_.database + "-journal"}) {
    ::unlink(name.c_str());
  }
}

void NewLedgerFile::give_name(const LedgerFiles& final_files) const {
  require_nothing_there(final_files);
  remove_leftover_log(final_files);
  if (::renameat2(AT_FDCWD, files_.database.c_str(), AT_FDCWD, final_files.database.c_str(),
                  RENAME_NOREPLACE) != 0) {
    const int error = errno;
    if (error == EEXIST) require_nothing_there(final_files);
    throw_refused("cannot give the new ledger its name " + final_files.database, error);
  }
  sync_directory(final_files.directory);
}

void make_directory_if_missing(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) return;
  const std::string directory = path.substr(0, slash);
  if (exists(directory)) return;
  if (::mkdir(directory.c_str(), 0750) == 0) {
    if (::chmod(directory.c_str(), 0750) != 0) throw_refused("cannot set the mode of " + directory, errno);
    return;
  }
  if (errno == EEXIST) return;
  throw_refused("cannot create the directory " + directory, errno);
}

// A WAL left by a removed ledger would be replayed into the new one, unless it is empty.
void require_nothing_there(const LedgerFiles& files) {
  const bool log_counts = exists(files.database) || !is_log_empty(files);
  for (const std::string& name :
       {files.database, files.wal(), files.shm(), files.database + "-journal", files.poison_marker()}) {
    const bool of_log = name == files.wal() || name == files.shm();
    if ((log_counts || !of_log) && exists(name)) {
      refuse_development_ledger(files);
      throw LedgerUnusable("there is something at " + name +
                           " already; a ledger is never overwritten. Choose another "
                           "name, or move what is there away");
    }
  }
}

void write_first_end_mark(const LedgerFiles& files, int lock_file, const EndMark& end,
                          const Options& options) noexcept {
  try {
    const int error = write_end_mark(lock_file, end);
    if (error == 0 || !options.warn) return;
    options.warn(system_message("cannot write to " + files.lock() + " how many lines the ledger has", error) +
                 "; the next writer tries again");
  } catch (const std::exception&) {
    return;
  }
}

bool make_ledger_file(const std::string& path, const Options& options,
                      accounting::CallbackRef<void(Connection&, const NewLedgerTarget&)> fill,
                      accounting::CallbackRef<bool(const std::string&)> accept) {
  make_directory_if_missing(path);
  const LedgerFiles files = locate(path);
  require_no_network(files, options);
  require_nothing_there(files);
  ProcessLock lock(files);
  lock.take(deadline_after(options.wait), options.report_wait, options.stop);
  const NewLedgerTarget place{
      .files = files, .remembered = read_end_mark(lock.file()), .lock_file = lock.file()};
  const NewLedgerFile temporary(files);
  std::optional<EndMark> end;
  try {
    Connection db(temporary.files(), Connection::Role::creator);
    db.execute("BEGIN IMMEDIATE");
    fill(db, place);
    end = end_mark_of(db);
    db.execute("COMMIT");
    db.move_log_into_file(temporary.files());
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "creating ledger " + files.database);
  }
  if (accept && !accept(temporary.files().database)) return false;
  temporary.give_name(files);
  write_first_end_mark(files, lock.file(), *end, options);
  if (ledger_of_replica_mark(lock.file()) != end->ledger_id) write_replica_mark(lock.file(), {});
  return true;
}

}  // namespace epsilog::ledger
