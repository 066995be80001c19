#include "leftover_log.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>

#include "held_files.hpp"

namespace epsilog::ledger {
namespace {

/// sqlite.org/walformat.html: regions of 32 KiB, and 3 bytes before the first.
constexpr off_t kIndexRegion = 32'768;
constexpr off_t kIndexBegun = 3;

/// The size of a regular file, 0 where nothing has that name, -1 for anything else.
off_t size_of_file(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return S_ISREG(status.st_mode) ? status.st_size : -1;
  const int error = errno;
  if (error != ENOENT && error != ENOTDIR) throw_refused("cannot examine " + path, error);
  return 0;
}

bool is_size_of_index(off_t size) {
  return size == kIndexBegun || (size >= 0 && size % kIndexRegion == 0);
}

/// The last connection to close takes the exclusive lock, and then the log and the index away. One that was
/// opened for reading only cannot.
void open_and_close(const std::string& database) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(
      database.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection(raw, &sqlite3_close);
  if (opened == SQLITE_OK) sqlite3_exec(raw, "SELECT 1 FROM sqlite_schema", nullptr, nullptr, nullptr);
}

}  // namespace

bool is_log_empty(const LedgerFiles& files) {
  return size_of_file(files.wal()) == 0 && is_size_of_index(size_of_file(files.shm()));
}

void remove_leftover_log(const LedgerFiles& files) {
  for (const std::string& path : {files.wal(), files.shm()}) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      throw_refused("cannot remove " + path + ", which a deleted ledger left", errno,
                    permission_advice(files.directory, errno));
    }
  }
}

void tidy_copy(const LedgerFiles& files) noexcept {
  try {
    if (exists(files.lock()) || !owned(files) || !is_log_empty(files)) return;
    if (!exists(files.wal()) && !exists(files.shm())) return;
    use_unless_held(files, [&] { open_and_close(files.database); });
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace epsilog::ledger
