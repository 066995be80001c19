#include "ledger_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "epsilog/accounting/errors.hpp"

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
    throw LedgerUnusable(system_message("ledger: no directory '" + directory + "'", errno));
  }
  LedgerFiles files;
  files.directory = resolved;
  files.database = (files.directory == "/" ? "" : files.directory) + "/" + name;
  return files;
}

FileIdentity require_single_regular_file(const LedgerFiles& files) {
  struct stat status {};
  if (::lstat(files.database.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      throw LedgerUnusable("no ledger at " + files.database + "; make one with `epsilog init`");
    }
    throw LedgerBusy(system_message("ledger " + files.database, errno));
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
  if (status.st_size == 0)
    throw LedgerCorrupt("ledger " + files.database + " is empty: truncated, or never a ledger");
  return {.device = status.st_dev, .inode = status.st_ino};
}

void tighten_mode(const LedgerFiles& files) {
  constexpr mode_t kAllowed = S_IRUSR | S_IWUSR | S_IRGRP;
  struct stat status {};
  if (::lstat(files.database.c_str(), &status) != 0) {
    throw LedgerBusy(system_message("ledger " + files.database, errno));
  }
  const mode_t mode = status.st_mode & 07777;
  if ((mode & ~kAllowed) == 0) return;
  if (::chmod(files.database.c_str(), mode & kAllowed) != 0) {
    throw LedgerUnusable(system_message(
        "ledger " + files.database + " is open to others (wanted 0600 or 0640) and cannot be closed", errno));
  }
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

off_t size_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_size : 0;
}

void sync_directory(const std::string& directory) {
  const Descriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid() || ::fsync(descriptor.get()) != 0) {
    throw LedgerIo(system_message("cannot make the entries of " + directory + " durable", errno));
  }
}

}  // namespace epsilog::ledger
