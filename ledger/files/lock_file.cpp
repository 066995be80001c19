#include "lock_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace epsilog::ledger {
namespace {

struct OpenLockFiles {
  std::mutex mutex;  // held while a process forks
  std::set<LockFile*> files;
};

/// Never destroyed: a ledger may be closed by another static object.
OpenLockFiles& open_lock_files();

void before_fork() {
  open_lock_files().mutex.lock();
}

void after_fork_in_parent() {
  open_lock_files().mutex.unlock();
}

void after_fork_in_child() {
  OpenLockFiles& open = open_lock_files();
  for (LockFile* const file : open.files) file->leave_to_parent();
  open.mutex.unlock();
}

OpenLockFiles& open_lock_files() {
  static OpenLockFiles& open = []() -> OpenLockFiles& {
    auto made = std::make_unique<OpenLockFiles>();
    const int error = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (error != 0) throw_refused("cannot keep the ledger's locks from forked children", error);
    return *made.release();
  }();
  return open;
}

}  // namespace

LockFile::LockFile(std::string path, accounting::CallbackRef<Descriptor()> open) : path_(std::move(path)) {
  OpenLockFiles& known = open_lock_files();
  const std::lock_guard guard(known.mutex);
  const auto place = known.files.insert(this).first;
  try {
    descriptor_ = open();
  } catch (...) {
    known.files.erase(place);
    throw;
  }
}

LockFile::~LockFile() {
  OpenLockFiles& known = open_lock_files();
  const std::lock_guard guard(known.mutex);
  known.files.erase(this);
  descriptor_ = Descriptor();
}

bool LockFile::named() const {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor_.get(), &held) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

bool LockFile::try_lock() const {
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  throw_refused("cannot lock " + path_, errno);
}

int LockFile::lock() const noexcept {
  while (::flock(descriptor_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

void LockFile::unlock() const noexcept {
  ::flock(descriptor_.get(), LOCK_UN);
}

Descriptor open_lock_file(const LedgerFiles& files, const std::string& path) {
  for (;;) {
    constexpr int kAsItIs = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    Descriptor existing(::open(path.c_str(), kAsItIs));
    int error = errno;
    if (!existing.valid() && error == EACCES) {
      mend_modes_beside(files);
      existing = Descriptor(::open(path.c_str(), kAsItIs));
      error = errno;
    }
    if (existing.valid()) {
      share_lock_file(files, existing);
      return existing;
    }
    if (error != ENOENT) {
      throw_refused("cannot open the lock file " + path, error, permission_advice(path, error));
    }
    // Whatever the umask is, the next process of this user must be able to open it.
    Descriptor created(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    error = errno;
    if (created.valid()) {
      share_lock_file(files, created);
      return created;
    }
    if (error != EEXIST) {
      throw_refused("cannot create the lock file " + path, error, permission_advice(files.directory, error));
    }
  }
}

void share_lock_file(const LedgerFiles& files, const Descriptor& lock_file) {
  share_as_database(files, lock_file);
}

}  // namespace epsilog::ledger
