// Which files must not be opened beside a ledger.
//
// POSIX record locks belong to a process and a file: when any descriptor of the file is closed, all
// locks the process holds on it are gone. Whoever opened a ledger's database or shared memory as if
// it were data, and closed it again, would silently take SQLite's locks away.
// Thread-safe.
#pragma once

#include <sys/stat.h>

#include <string>

namespace epsilog::ledger {

/// Whether `path`, symbolic and hard links followed, leads to the database, log, shared memory, lock
/// file or marker of a ledger that this process has open. Opens nothing. False for what is not there.
[[nodiscard]] bool is_file_of_open_ledger(const std::string& path);
/// The same of a file as stat() or fstat() tells it: a descriptor of such a one must not be closed.
[[nodiscard]] bool is_file_of_open_ledger(const struct stat& file);
/// Whether `path`, there or not, is a name of a file that the ledger at `ledger` has or would make.
/// Throws  LedgerUnusable, InvalidParameter if there can be no ledger at that path.
[[nodiscard]] bool is_name_of_ledger(const std::string& path, const std::string& ledger);

}  // namespace epsilog::ledger
