// Where a ledger lies and what lies beside it. Nothing here ever opens the database file itself:
// closing a descriptor of it would drop the locks SQLite holds in this process.
#pragma once

#include <sys/types.h>

#include <string>

namespace epsilog::ledger {

/// The names of one ledger, absolute and free of symbolic links except, possibly, the last component.
struct LedgerFiles {
  std::string directory;
  std::string database;

  [[nodiscard]] std::string wal() const { return database + "-wal"; }
  [[nodiscard]] std::string shm() const { return database + "-shm"; }
  [[nodiscard]] std::string queue() const { return database + ".queue"; }
  [[nodiscard]] std::string lock() const { return database + ".lock"; }
  [[nodiscard]] std::string poisoned() const { return database + ".poisoned"; }
};

/// Which file a name stands for now.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// A file descriptor with an owner.
class Descriptor final {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Resolves the directory part of `path`.
/// Throws  LedgerUnusable if there is no such directory, InvalidParameter for a path that names none.
[[nodiscard]] LedgerFiles locate(const std::string& path);

/// Ensures  the database is a regular file with one name.
/// Throws   LedgerUnusable (absent, a symbolic link, several hard links, not a regular file),
///          LedgerCorrupt (empty), LedgerBusy (cannot be examined).
[[nodiscard]] FileIdentity require_single_regular_file(const LedgerFiles& files);

/// Takes away whatever access goes beyond 0640.
/// Throws   LedgerUnusable if that is not ours to do.
void tighten_mode(const LedgerFiles& files);

[[nodiscard]] bool exists(const std::string& path);
/// 0 when absent.
[[nodiscard]] off_t size_of(const std::string& path);

/// Makes the entries of a directory durable.
/// Throws  LedgerIo.
void sync_directory(const std::string& directory);

/// "what: strerror(error)".
[[nodiscard]] std::string system_message(const std::string& what, int error);

}  // namespace epsilog::ledger
