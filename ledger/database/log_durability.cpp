#include "log_durability.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace epsilog::ledger {
namespace {

constexpr int kChunkBytes = 1 << 16;           // the files of SQLite take less than 2^17 at once
constexpr sqlite3_int64 kLogHeaderBytes = 32;  // of the file, then for each frame,
constexpr sqlite3_int64 kFrameHeaderBytes =
    24;  // which holds one page: sqlite.org/fileformat2.html#walformat

void check(int code) {
  if (code != SQLITE_OK) throw StorageFailure(code, sqlite3_errstr(code), errno);
}

sqlite3_file& log_of(Connection& writer) {
  sqlite3_file* log = nullptr;
  errno = 0;
  check(sqlite3_file_control(writer.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log));
  if (log == nullptr || log->pMethods == nullptr) {
    throw StorageFailure(SQLITE_INTERNAL, "SQLite has no write-ahead log open");
  }
  return *log;
}

sqlite3_int64 size_of(sqlite3_file& log) {
  sqlite3_int64 size = 0;
  check(log.pMethods->xFileSize(&log, &size));
  return size;
}

std::int64_t number(Connection& writer, const char* pragma) {
  Query row = writer.query(pragma);
  return row.step() ? row.integer(0) : 0;
}

void write_again(sqlite3_file& log) {
  std::string chunk(kChunkBytes, '\0');
  const sqlite3_int64 size = size_of(log);
  for (sqlite3_int64 offset = 0; offset < size; offset += kChunkBytes) {
    const auto count = static_cast<int>(std::min<sqlite3_int64>(kChunkBytes, size - offset));
    check(log.pMethods->xRead(&log, chunk.data(), count, offset));
    check(log.pMethods->xWrite(&log, chunk.data(), count, offset));
  }
  check(log.pMethods->xSync(&log, SQLITE_SYNC_NORMAL));
}

void cut_after(sqlite3_file& log, std::int64_t frames, std::int64_t page_size) {
  const sqlite3_int64 end =
      frames == 0 ? 0
                  : kLogHeaderBytes + frames * (kFrameHeaderBytes + static_cast<sqlite3_int64>(page_size));
  if (size_of(log) <= end) return;
  check(log.pMethods->xTruncate(&log, end));
  check(log.pMethods->xSync(&log, SQLITE_SYNC_NORMAL));
}

/// That the log has its name.
void sync_names(const LedgerFiles& files) {
  const Descriptor directory(::open(files.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) throw StorageFailure(SQLITE_CANTOPEN, files.directory + " cannot be opened", errno);
  if (::fsync(directory.get()) != 0)
    throw StorageFailure(SQLITE_IOERR_DIR_FSYNC, "the entries of " + files.directory + " cannot be synced",
                         errno);
}

/// How many frames are published. SQLite tells it to checkpoints only, so this is one.
std::int64_t published_frames(Connection& writer) {
  int frames = -1;
  const int code =
      sqlite3_wal_checkpoint_v2(writer.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, &frames, nullptr);
  if (code != SQLITE_OK) throw writer.last_failure();
  if (frames < 0) throw StorageFailure(SQLITE_BUSY, "another program is moving the write-ahead log");
  return frames;
}

}  // namespace

void make_log_durable(Connection& writer, const LedgerFiles& files) {
  // SQLite's own lock, against programs that know nothing of turns.
  writer.execute("BEGIN IMMEDIATE");
  sqlite3_file& log = log_of(writer);
  const std::int64_t version = number(writer, "PRAGMA data_version");
  write_again(log);
  sync_names(files);
  writer.execute("ROLLBACK");
  const std::int64_t frames = published_frames(writer);
  writer.execute("BEGIN IMMEDIATE");
  if (number(writer, "PRAGMA data_version") != version) {
    throw StorageFailure(SQLITE_BUSY, "another program wrote to it");
  }
  cut_after(log, frames, number(writer, "PRAGMA page_size"));
  writer.execute("ROLLBACK");
}

}  // namespace epsilog::ledger
