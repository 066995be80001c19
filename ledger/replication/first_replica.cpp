#include "first_replica.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "poison.hpp"
#include "replica_file.hpp"
#include "replica_mark.hpp"
#include "replica_tail.hpp"
#include "replication.hpp"

namespace epsilog::ledger {
namespace {

std::string unfinished_name(const std::string& path, const std::string& ledger_id) {
  return path + ".creating-" + ledger_id;
}

/// Whether a file holds the beginning of that ledger and no decision: nothing was ever charged in it.
bool holds_only_beginning(const std::string& path, const LedgerFiles& files, const std::string& ledger_id) {
  try {
    const ReplicaFile file = ReplicaFile::open(path, files);
    bool begins = false;
    for (FileLineReader lines(file, 0); lines.next();) {
      if (parse_trailer(lines.line())) continue;
      const JsonValue line = parse_canonical(lines.line());
      const std::string& kind = line.at("kind").text();
      if (kind == "ledger") begins = line.at("id").text() == ledger_id;
      if (!begins || kind == "decision") return false;
    }
    return begins;
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void throw_name_taken(const std::string& path) {
  throw ReplicaUnavailable(
      "replica " + path +
      " is there already, and may hold the history of another ledger; nothing was made. If you know that an "
      "interrupted `epsilog init` left it and that no ledger uses it, remove it and run `epsilog init` "
      "again. "
      "Otherwise name another file in the policy");
}

/// Nothing is overwritten. A network file system may not know the flag that says so.
void give_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  int error = errno;
  if (error == EEXIST) throw_name_taken(to);
  const bool unknown_flag = error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
  if (unknown_flag && exists(to)) throw_name_taken(to);
  if (unknown_flag && std::rename(from.c_str(), to.c_str()) == 0) return;
  error = errno;
  throw ReplicaUnavailable(system_message("replica " + to + " cannot be given its name", error) +
                           "; nothing was made");
}

}  // namespace

FirstReplica::FirstReplica(const Replica& replica, const NewLedgerTarget& place, const std::string& ledger_id)
    : replica_(replica), files_(place.files), unfinished_(unfinished_name(replica.path, ledger_id)) {
  require_not_of_ledger(replica_.path, files_);
  const std::string before = ledger_of_replica_mark(place.lock_file);
  const EndMarkReading& remembered = place.remembered;
  const bool was_there =
      remembered.state == EndMarkState::unreadable || (remembered.end && remembered.end->ledger_id == before);
  if (!before.empty() && !was_there) {
    ::unlink(unfinished_name(replica_.path, before).c_str());
    if (holds_only_beginning(replica_.path, files_, before)) ::unlink(replica_.path.c_str());
  }
  if (exists(replica_.path)) throw_name_taken(replica_.path);
  write_replica_mark(place.lock_file,
                     {.boot_id = current_boot_id(), .ledger_id = ledger_id, .size = 1, .end = 1});
}

FirstReplica::~FirstReplica() {
  if (made_) ::unlink(replica_.path.c_str());
}

void FirstReplica::make(Connection& connection, std::int64_t size) {
  make_replica({.path = unfinished_, .sync = replica_.sync}, files_, connection, size);
  try {
    give_name(unfinished_, replica_.path);
  } catch (...) {
    ::unlink(unfinished_.c_str());
    throw;
  }
  made_ = true;
  const auto slash = replica_.path.find_last_of('/');
  try {
    sync_directory(slash == 0 ? "/" : replica_.path.substr(0, slash));
  } catch (const LedgerIo& error) {
    throw ReplicaUnavailable("replica " + replica_.path + ": " + error.what());
  }
}

}  // namespace epsilog::ledger
