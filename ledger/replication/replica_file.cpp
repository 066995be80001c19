#include "replica_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "epsilog/ledger/open_ledgers.hpp"
#include "epsilog/ledger/replica.hpp"
#include "file_system.hpp"

namespace epsilog::ledger {
namespace {

int kernel_reserve(int file, off_t at, off_t count) {
  return ::fallocate(file, FALLOC_FL_KEEP_SIZE, at, count);
}

/// Why a file of that status is not one that lines are written to; "" if it is.
std::string objection(const struct stat& status, const LedgerFiles& files) {
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (status.st_nlink != 1) return "has more than one name (hard links)";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by others than its owner";
  struct stat ledger {};
  const bool known = ::lstat(files.database.c_str(), &ledger) == 0;
  const uid_t owner = known ? ledger.st_uid : ::geteuid();
  if (status.st_uid != owner && status.st_uid != 0) {
    return "belongs to user " + std::to_string(status.st_uid) + ", the ledger to user " +
           std::to_string(owner);
  }
  return "";
}

[[noreturn]] void throw_unavailable(const std::string& path, const std::string& why) {
  throw ReplicaUnavailable("replica " + path + " " + why +
                           "; nothing was recorded. Bring it back, or apply a policy that names another one");
}

/// What helps against an error at a replica, as the rest of a sentence.
std::string what_helps(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return ". The replica's disk is full, or its quota or largest file size is reached: make room where " +
           path + " lies, or apply a policy that names another replica; then retry";
  }
  try {
    const auto slash = path.find_last_of('/');
    const FileSystem found = file_system_of(slash == 0 ? "/" : path.substr(0, slash));
    if (found.kind == FileSystem::Kind::network) {
      return std::string(". The replica lies on a network file system (") + found.name +
             "): see that its server answers and that it is mounted, then retry";
    }
  } catch (const Error&) {
    return "";
  }
  return "";
}

[[noreturn]] void throw_call_failed(const std::string& path, const char* doing, int error) {
  const std::string helps = what_helps(path, error);
  if (helps.empty()) throw_unavailable(path, system_message(doing, error));
  throw ReplicaUnavailable("replica " + path + " " + system_message(doing, error) + "; nothing was recorded" +
                           helps);
}

}  // namespace

void require_not_of_ledger(const std::string& path, const LedgerFiles& files) {
  if (is_ledger_file_name(files, path)) throw_unavailable(path, "has the name of a file of the ledger");
}

ReplicaCalls& replica_calls() noexcept {
  static ReplicaCalls calls{::pwrite, ::fdatasync, ::ftruncate, kernel_reserve};
  return calls;
}

ReplicaFile::ReplicaFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail("examining", errno);
  identity_ = {.device = status.st_dev, .inode = status.st_ino};
}

ReplicaFile ReplicaFile::open(const std::string& path, const LedgerFiles& files) {
  require_not_of_ledger(path, files);
  // Before it is opened: to close a descriptor of a ledger's file would take SQLite's locks away.
  if (is_file_of_open_ledger(path)) throw_unavailable(path, "is a file of a ledger");
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) throw_call_failed(path, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_unavailable(path, system_message("cannot be examined", errno));
  if (const std::string why = objection(status, files); !why.empty()) throw_unavailable(path, why);
  return {path, std::move(file)};
}

ReplicaFile ReplicaFile::create(const std::string& path, const LedgerFiles& files) {
  require_not_of_ledger(path, files);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) throw_call_failed(path, "cannot be made", errno);
  if (::fchmod(file.get(), 0600) != 0)
    throw_unavailable(path, system_message("cannot be closed to others", errno));
  share_as_database(files, file);
  const auto slash = path.find_last_of('/');
  try {
    sync_directory(slash == 0 ? "/" : path.substr(0, slash));
  } catch (const LedgerIo& error) {
    throw_unavailable(path, std::string("is made, but ") + error.what());
  }
  return {path, std::move(file)};
}

bool ReplicaFile::named() const noexcept {
  struct stat status {};
  return ::lstat(path_.c_str(), &status) == 0 && status.st_dev == identity_.device &&
         status.st_ino == identity_.inode && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void ReplicaFile::fail(const char* doing, int error) const {
  throw ReplicaUnavailable(system_message(std::string("replica ") + path_ + ": " + doing, error) +
                           what_helps(path_, error));
}

off_t ReplicaFile::size() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail("examining", errno);
  return status.st_size;
}

std::string ReplicaFile::read(off_t at, std::size_t most) const {
  std::string bytes(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const ssize_t count =
        ::pread(file_.get(), bytes.data() + have, most - have, at + static_cast<off_t>(have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("reading", errno);
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

void ReplicaFile::write(off_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = replica_calls().write(file_.get(), bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("writing", count < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    at += static_cast<off_t>(count);
  }
}

void ReplicaFile::cut(off_t size) {
  while (replica_calls().cut(file_.get(), size) != 0) {
    if (errno != EINTR) fail("cutting off what nobody was told", errno);
  }
}

void ReplicaFile::sync() {
  // An error is told once: after EINTR nothing is known, so that this is one as well.
  if (replica_calls().sync(file_.get()) != 0) fail("syncing", errno);
}

void ReplicaFile::reserve(off_t at, off_t count) {
  while (replica_calls().reserve(file_.get(), at, count) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return;  // the file system cannot keep any
    fail("reserving room", errno);
  }
}

}  // namespace epsilog::ledger
