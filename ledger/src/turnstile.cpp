#include "turnstile.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "lock_holder.hpp"

namespace epsilog::ledger {
namespace {

/// Lock files have the owner and the access of the ledger, whoever makes them: what root left behind must not
/// keep the owner out, and whoever may read the ledger may read what L.lock says of it.
Descriptor open_lock_file(const LedgerFiles& files, const std::string& path) {
  constexpr mode_t kMask = 0640;
  for (;;) {
    Descriptor existing(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    int error = errno;
    if (existing.valid()) {
      share_as_database(files, existing, kMask);
      return existing;
    }
    if (error != ENOENT) {
      throw_refused("cannot open the lock file " + path, error, permission_advice(path, error));
    }
    // Whatever the umask is, the next process of this user must be able to open it.
    Descriptor created(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    error = errno;
    if (created.valid()) {
      share_as_database(files, created, kMask);
      return created;
    }
    if (error != EEXIST) {
      throw_refused("cannot create the lock file " + path, error, permission_advice(files.directory, error));
    }
  }
}

/// Whether the descriptor is still the file of that name: a lock on a removed file keeps nobody out.
bool still_named(const Descriptor& descriptor, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor.get(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

bool try_lock(const Descriptor& descriptor, const std::string& path) {
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  throw_refused("cannot lock " + path, errno);
}

/// What a waiting thread and the caller who may lose patience share.
struct Wait {
  std::mutex mutex;
  std::condition_variable changed;
  Descriptor queue;
  Descriptor lock;
  int error = 0;
  bool finished = false;
};

int lock_blocking(const Descriptor& descriptor) {
  while (::flock(descriptor.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

void stand_in_line(const std::shared_ptr<Wait>& wait) {
  int error = lock_blocking(wait->queue);
  if (error == 0) error = lock_blocking(wait->lock);
  const std::lock_guard guard(wait->mutex);
  wait->error = error;
  wait->finished = true;
  wait->changed.notify_all();
}

void start_standing_in_line(const std::shared_ptr<Wait>& wait) {
  // Signals are the application's; none may be delivered to a thread it does not know of.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([wait] { stand_in_line(wait); }).detach();
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw LedgerBusy(std::string("cannot wait for the ledger's lock: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

[[noreturn]] void lose_patience(const LedgerFiles& files) {
  throw LedgerBusy("ledger " + files.database + " is in use by " + lock_holder(files) +
                   "; retry, or wait longer (--wait)");
}

/// flock has no timeout, and asking again and again would give up the place in the queue. So a
/// thread blocks in it; when the caller loses patience the thread stays behind, and whatever it
/// gets it gives back at once by dropping the last reference to the descriptors.
Descriptor wait_in_line(const LedgerFiles& files, Descriptor queue, Descriptor lock, Deadline deadline,
                        accounting::CallbackRef<void(const std::string&)> waiting) {
  if (std::chrono::steady_clock::now() >= deadline) lose_patience(files);
  const auto wait = std::make_shared<Wait>();
  wait->queue = std::move(queue);
  wait->lock = std::move(lock);
  start_standing_in_line(wait);
  const auto finished = [&] { return wait->finished; };
  const Deadline until_said = deadline_after(kSilentWait);
  std::unique_lock guard(wait->mutex);
  if (until_said < deadline && !wait->changed.wait_until(guard, until_said, finished)) {
    guard.unlock();
    tell_whom_for(files, waiting);
    guard.lock();
  }
  if (!wait->changed.wait_until(guard, deadline, finished)) lose_patience(files);
  if (wait->error != 0) throw_refused("cannot lock " + files.lock(), wait->error);
  const Descriptor leave_turnstile = std::move(wait->queue);
  return std::move(wait->lock);
}

}  // namespace

Deadline deadline_after(std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() + std::clamp(wait, std::chrono::milliseconds(0), kLongest);
}

bool ThreadTurns::take(Deadline deadline) {
  std::unique_lock guard(mutex_);
  if (!taken_) {
    taken_ = true;
    return true;
  }
  Waiting mine;
  waiting_.push_back(&mine);
  const bool handed = mine.changed.wait_until(guard, deadline, [&mine] { return mine.handed; });
  if (!handed) std::erase(waiting_, &mine);
  return handed;
}

void ThreadTurns::give_back() {
  const std::lock_guard guard(mutex_);
  taken_ = !waiting_.empty();
  if (!taken_) return;
  Waiting& next = *waiting_.front();
  waiting_.pop_front();
  next.handed = true;
  next.changed.notify_one();  // under the lock: it is gone once its thread goes on
}

Descriptor take_process_lock(const LedgerFiles& files, Deadline deadline,
                             accounting::CallbackRef<void(const std::string&)> waiting) {
  for (;;) {
    Descriptor queue = open_lock_file(files, files.queue());
    Descriptor lock = open_lock_file(files, files.lock());
    const bool at_once = try_lock(queue, files.queue()) && try_lock(lock, files.lock());
    if (!at_once) lock = wait_in_line(files, std::move(queue), std::move(lock), deadline, waiting);
    if (still_named(lock, files.lock())) return lock;
  }
}

Descriptor take_process_lock_at_once(const LedgerFiles& files) {
  for (;;) {
    const Descriptor queue = open_lock_file(files, files.queue());
    Descriptor lock = open_lock_file(files, files.lock());
    if (!try_lock(queue, files.queue()) || !try_lock(lock, files.lock())) return {};
    if (still_named(lock, files.lock())) return lock;
  }
}

LockAttempt try_process_lock(const LedgerFiles& files) {
  // Locking asks for no right to write; what is done under the lock may.
  Descriptor lock(::open(files.lock().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  const bool writable = lock.valid();
  if (!writable)
    lock = Descriptor(::open(files.lock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!lock.valid()) return {.taken = false, .writable = false, .lock = {}};
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || !still_named(lock, files.lock())) {
    return {.taken = true, .writable = writable, .lock = {}};
  }
  return {.taken = false, .writable = writable, .lock = std::move(lock)};
}

}  // namespace epsilog::ledger
