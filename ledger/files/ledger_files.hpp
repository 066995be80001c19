// Where a ledger lies and what lies beside it. Nothing here ever opens the database file itself: closing a
// descriptor of it would drop the locks SQLite holds in this process (files/held_files.hpp does open it).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace epsilog::ledger {

/// The names of one ledger, absolute and free of symbolic links except, possibly, the last component.
struct LedgerFiles {
  std::string directory;
  std::string database;

  [[nodiscard]] std::string wal() const { return database + "-wal"; }
  [[nodiscard]] std::string shm() const { return database + "-shm"; }
  [[nodiscard]] std::string queue() const { return database + ".queue"; }
  [[nodiscard]] std::string lock() const { return database + ".lock"; }
  [[nodiscard]] std::string poison_marker() const { return database + ".poisoned"; }
};

/// Whether `path`, there or not, is a name of one of them, or of a journal beside the database.
[[nodiscard]] bool is_ledger_file_name(const LedgerFiles& files, const std::string& path);

/// Which file a name stands for now.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Nothing where no file has that name. A link is not followed.
/// Throws  LedgerBusy, LedgerUnusable: it cannot be told.
[[nodiscard]] std::optional<FileIdentity> identity_of_name(const std::string& path);

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
/// Throws  LedgerUnusable if there is no such directory, or its path is too long for SQLite; InvalidParameter
///         for a path that names no file.
[[nodiscard]] LedgerFiles locate(const std::string& path);

/// Ensures  the database is a regular file with one name.
/// Throws   LedgerUnusable (absent, a symbolic link, several hard links, not a regular file),
///          LedgerCorrupt (empty), LedgerBusy (cannot be examined now).
[[nodiscard]] FileIdentity require_single_regular_file(const LedgerFiles& files);

/// A file mounted by itself has its log and its locks in another directory than whoever uses it by another
/// name.
/// Throws   LedgerUnusable if the database is a mount point.
void require_no_mount_point(const LedgerFiles& files);

/// Whether /proc/self/mountinfo, as given, lists `path` as a mount point.
/// Thread-safety: pure function.
[[nodiscard]] bool has_mount_point(std::string_view mountinfo, const std::string& path);

/// Takes away whatever access goes beyond 0640. True if its group could write to it.
/// Throws   LedgerUnusable if that is not ours to do.
[[nodiscard]] bool tighten_mode(const LedgerFiles& files);

/// Only the owner writes to a ledger, and root: what others would make beside it would be theirs.
[[nodiscard]] bool owned(const LedgerFiles& files);
/// Throws   LedgerUnusable unless it is owned.
void require_owned(const LedgerFiles& files);

/// Gives a file that lies beside the database its owner and group, and lets the group read it as far as it
/// may read the database. The owner may always read and write it, also where the database is read-only. What
/// is not ours to give stays as it is.
void share_as_database(const LedgerFiles& files, const Descriptor& file);

/// The same of SQLite's files, by name: closing any descriptor of one would take SQLite's locks away.
/// Requires  the turn is held; the database is ours.
void share_log_as_database(const LedgerFiles& files);

/// Lets the owner of the database read and write the files beside it again, where a mode keeps the owner out.
/// What is not ours to give stays as it is.
void mend_modes_beside(const LedgerFiles& files);

/// What to do about an error that says that this user may not, as the rest of a sentence; "" of any other.
[[nodiscard]] std::string permission_advice(const std::string& path, int error);

/// At most `most` bytes of a regular file, never waiting for anybody; nothing for anything else.
[[nodiscard]] std::optional<std::string> read_small_file(const std::string& path, std::size_t most);

/// False only where nothing has that name.
/// Throws  LedgerBusy, LedgerUnusable: it cannot be told.
[[nodiscard]] bool exists(const std::string& path);
/// 0 when absent.
/// Throws  likewise.
[[nodiscard]] off_t size_of(const std::string& path);

/// Makes the entries of a directory durable.
/// Throws  LedgerIo.
void sync_directory(const std::string& directory);

/// "what: strerror(error)".
[[nodiscard]] std::string system_message(const std::string& what, int error);

/// Of a call that the system refused, and that did nothing.
/// Throws  LedgerUnusable of an error that lasts, else LedgerBusy: "what: strerror(error)", then `advice`.
[[noreturn]] void throw_refused(const std::string& what, int error, const std::string& advice = "");

/// SQLite takes paths up to a length of its own, with what it puts behind them.
/// Throws  LedgerUnusable of a longer one.
void require_short_path(const std::string& database);

}  // namespace epsilog::ledger
