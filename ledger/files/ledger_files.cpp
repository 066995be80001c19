#include "ledger_files.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "file_verdict.hpp"

namespace epsilog::ledger {

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::string system_message(const std::string& what, int error) {
  return what + ": " + std::generic_category().message(error);
}

void throw_refused(const std::string& what, int error, const std::string& advice) {
  const std::string message = system_message(what, error) + advice;
  const bool lasts = file_verdict(FileCall::open, FileRole::beside, error) == FileVerdict::lasting;
  if (lasts) throw LedgerUnusable(message);
  throw LedgerBusy(message);
}

void require_short_path(const std::string& database) {
  constexpr std::size_t kBehindIt = 8;  // "-journal"
  const sqlite3_vfs* const files = ::sqlite3_vfs_find(nullptr);
  const auto most = static_cast<std::size_t>(files->mxPathname) - kBehindIt;
  if (database.size() <= most) return;
  throw LedgerUnusable("ledger " + database + ": its path has " + std::to_string(database.size()) +
                       " bytes, and SQLite takes at most " + std::to_string(most) +
                       ": choose a shorter name, or a directory nearer to the root");
}

LedgerFiles locate(const std::string& path) {
  const auto slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string::npos) {
    throw InvalidParameter("ledger: '" + path + "' does not name a file");
  }
  std::string directory = slash == std::string::npos ? "." : path.substr(0, slash);
  if (directory.empty()) directory = "/";
  char resolved[PATH_MAX];
  if (::realpath(directory.c_str(), resolved) == nullptr) {
    const int error = errno;
    if (directory == "." && error == ENOENT)
      throw LedgerUnusable("ledger: '" + path + "': the current directory does not exist any more");
    throw_refused("ledger: no directory '" + directory + "'", error);
  }
  LedgerFiles files;
  files.directory = resolved;
  files.database = (files.directory == "/" ? "" : files.directory) + "/" + name;
  require_short_path(files.database);
  return files;
}

bool is_ledger_file_name(const LedgerFiles& files, const std::string& path) {
  std::string wanted;
  try {
    wanted = locate(path).database;
  } catch (const Error&) {
    return false;  // no such directory, or no file: who opens it is told so
  }
  const std::string names[] = {files.database,
                               files.wal(),
                               files.shm(),
                               files.queue(),
                               files.lock(),
                               files.poison_marker(),
                               files.database + "-journal"};
  return std::find(std::begin(names), std::end(names), wanted) != std::end(names);
}

namespace {

/// A ledger that is gone is not made anew without a word: that would give its whole budget again.
[[noreturn]] void throw_not_there(const LedgerFiles& files) {
  for (const std::string& left : {files.lock(), files.queue(), files.wal(), files.poison_marker()}) {
    if (!exists(left)) continue;
    throw LedgerUnusable(
        "no ledger at " + files.database + ", but " + left +
        " is there: the ledger was moved away or deleted. Bring it back, or use `epsilog recover "
        "--from REPLICA` or `epsilog restore BACKUP`. A new one would have the whole budget again");
  }
  throw LedgerUnusable("no ledger at " + files.database + "; make one with `epsilog init`");
}

}  // namespace

FileIdentity require_single_regular_file(const LedgerFiles& files) {
  struct stat status {};
  if (::lstat(files.database.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw_not_there(files);
    const int error = errno;
    throw_refused("ledger " + files.database, error, permission_advice(files.directory, error));
  }
  if (S_ISLNK(status.st_mode)) {
    throw LedgerUnusable(
        "ledger " + files.database +
        " is a symbolic link: its lock files would lie under another name. Name the file itself");
  }
  if (!S_ISREG(status.st_mode)) throw LedgerUnusable("ledger " + files.database + " is not a regular file");
  if (status.st_nlink != 1) {
    throw LedgerUnusable(
        "ledger " + files.database + " has " + std::to_string(status.st_nlink) +
        " names (hard links): two of them would not see each other's locks. Remove all but one");
  }
  // SQLite would say that it cannot open the file, and no more.
  if (::faccessat(AT_FDCWD, files.database.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES) {
    throw LedgerUnusable("ledger " + files.database + " may not be read by this user, " +
                         std::to_string(::geteuid()) + ": it belongs to user " +
                         std::to_string(status.st_uid) +
                         ". Trying again does not help; its owner can give the right to read it");
  }
  if (status.st_size == 0)
    throw LedgerCorrupt("ledger " + files.database + " is empty: truncated, or never a ledger");
  return {.device = status.st_dev, .inode = status.st_ino};
}

namespace {

/// "\040" and the like stand for the bytes that would end a field.
std::string unescaped(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto digit = [&](std::size_t place) { return static_cast<unsigned>(field[i + place] - '0'); };
    if (field[i] == '\\' && i + 3 < field.size() && digit(1) < 4 && digit(2) < 8 && digit(3) < 8) {
      text += static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

/// Nothing where the kernel does not say.
std::optional<bool> is_mount_root(const std::string& path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) != 0) return std::nullopt;
  if ((status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) == 0) return std::nullopt;
  return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  static_cast<void>(path);
  return std::nullopt;
#endif
}

}  // namespace

bool has_mount_point(std::string_view mountinfo, const std::string& path) {
  constexpr int kMountPoint = 4;  // the fifth field, proc(5)
  while (!mountinfo.empty()) {
    std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    for (int field = 0; field < kMountPoint && !line.empty(); ++field) {
      line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    }
    if (!line.empty() && unescaped(line.substr(0, line.find(' '))) == path) return true;
  }
  return false;
}

void require_no_mount_point(const LedgerFiles& files) {
  std::optional<bool> mounted = is_mount_root(files.database);
  if (!mounted) {
    std::ifstream list("/proc/self/mountinfo", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(list), std::istreambuf_iterator<char>()};
    mounted = has_mount_point(text, files.database);
  }
  if (!*mounted) return;
  throw LedgerUnusable("ledger " + files.database +
                       " is mounted as a single file: its log and its locks would lie in another directory "
                       "than those of whoever uses it by another name. Mount the directory it lies in");
}

bool tighten_mode(const LedgerFiles& files) {
  constexpr mode_t kAllowed = S_IRUSR | S_IWUSR | S_IRGRP;
  struct stat status {};
  if (::lstat(files.database.c_str(), &status) != 0) {
    throw_refused("ledger " + files.database, errno);
  }
  const mode_t mode = status.st_mode & 07777;
  if ((mode & ~kAllowed) == 0) return false;
  if (::chmod(files.database.c_str(), mode & kAllowed) != 0) {
    throw LedgerUnusable(system_message(
        "ledger " + files.database + " is open to others (wanted 0600 or 0640) and cannot be closed", errno));
  }
  return (mode & S_IWGRP) != 0;
}

bool owned(const LedgerFiles& files) {
  const uid_t user = ::geteuid();
  struct stat status {};
  return user == 0 || (::lstat(files.database.c_str(), &status) == 0 && status.st_uid == user);
}

void require_owned(const LedgerFiles& files) {
  if (!owned(files)) {
    throw LedgerUnusable("ledger " + files.database + " belongs to another user than this one, " +
                         std::to_string(::geteuid()) +
                         ": only its owner writes to a ledger, for what others made beside it would keep the "
                         "owner out. Ask its owner, or run this as that user");
  }
}

namespace {

constexpr mode_t kOwnerUses = S_IRUSR | S_IWUSR;

/// The mode of a file beside the database. Its owner keeps reading and writing it: a database that was made
/// read-only for a while would otherwise leave files behind that keep its owner out for good.
mode_t mode_beside(const struct stat& database) {
  return (database.st_mode & S_IRGRP) | kOwnerUses;
}

}  // namespace

void mend_modes_beside(const LedgerFiles& files) {
  struct stat database {};
  if (::lstat(files.database.c_str(), &database) != 0) return;
  for (const std::string& path :
       {files.wal(), files.shm(), files.queue(), files.lock(), files.poison_marker()}) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (status.st_uid != database.st_uid || (status.st_mode & kOwnerUses) == kOwnerUses) continue;
    static_cast<void>(::fchmodat(AT_FDCWD, path.c_str(), mode_beside(database), AT_SYMLINK_NOFOLLOW));
  }
}

void share_as_database(const LedgerFiles& files, const Descriptor& file) {
  struct stat database {};
  struct stat status {};
  if (::lstat(files.database.c_str(), &database) != 0 || ::fstat(file.get(), &status) != 0) return;
  const mode_t mode = mode_beside(database);
  if (status.st_uid != database.st_uid || status.st_gid != database.st_gid) {
    // Of a file of our own the group may be ours to give where the owner is not.
    if (::fchown(file.get(), database.st_uid, database.st_gid) != 0)
      static_cast<void>(::fchown(file.get(), static_cast<uid_t>(-1), database.st_gid));
  }
  if ((status.st_mode & 07777) != mode) static_cast<void>(::fchmod(file.get(), mode));
}

void share_log_as_database(const LedgerFiles& files) {
  struct stat database {};
  if (::lstat(files.database.c_str(), &database) != 0) return;
  const mode_t mode = mode_beside(database);
  for (const std::string& path : {files.wal(), files.shm()}) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (status.st_uid != database.st_uid) continue;
    if (status.st_gid != database.st_gid)
      static_cast<void>(::lchown(path.c_str(), static_cast<uid_t>(-1), database.st_gid));
    if ((status.st_mode & 07777) !=
        mode)  // Whatever a link that takes its place meanwhile leads to is left alone.
      static_cast<void>(::fchmodat(AT_FDCWD, path.c_str(), mode, AT_SYMLINK_NOFOLLOW));
  }
}

std::string permission_advice(const std::string& path, int error) {
  if (error == EROFS) return "; the file system is read-only";
  if (error != EACCES && error != EPERM) return "";
  struct stat status {};
  const bool known = ::lstat(path.c_str(), &status) == 0;
  return "; trying again does not help: " + path +
         (known ? " belongs to user " + std::to_string(status.st_uid) : " cannot be examined") +
         ", this is user " + std::to_string(::geteuid()) +
         ". All files of a ledger belong to one user, and only that one writes";
}

std::optional<std::string> read_small_file(const std::string& path, std::size_t most) {
  // A FIFO or a device must not make us wait, nor a link lead elsewhere.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string text(most + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  if (have > most) return std::nullopt;
  text.resize(have);
  return text;
}

namespace {

/// Whether something has that name, and then what it is.
bool examine(const std::string& path, struct stat& status) {
  if (::lstat(path.c_str(), &status) == 0) return true;
  const int error = errno;
  if (error != ENOENT && error != ENOTDIR) throw_refused("cannot examine " + path, error);
  return false;
}

}  // namespace

std::optional<FileIdentity> identity_of_name(const std::string& path) {
  struct stat status {};
  if (!examine(path, status)) return std::nullopt;
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

bool exists(const std::string& path) {
  struct stat status {};
  return examine(path, status);
}

off_t size_of(const std::string& path) {
  struct stat status {};
  return examine(path, status) ? status.st_size : 0;
}

void sync_directory(const std::string& directory) {
  const Descriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid() || ::fsync(descriptor.get()) != 0) {
    throw LedgerIo(system_message("cannot make the entries of " + directory + " durable", errno));
  }
}

}  // namespace epsilog::ledger
