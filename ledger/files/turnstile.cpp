#include "turnstile.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "lock_holder.hpp"

namespace epsilog::ledger {

/// The two lock files, and who stands in the line between them.
class Line final {
 public:
  explicit Line(const LedgerFiles& files)
      : queue_(files.queue(), [&files] { return open_lock_file(files, files.queue()); }),
        lock_(files.lock(), [&files] { return open_lock_file(files, files.lock()); }) {}

  [[nodiscard]] const LockFile& queue() const noexcept { return queue_; }
  [[nodiscard]] const LockFile& lock() const noexcept { return lock_; }

  /// Whether our thread stands in the line, for a caller who lost patience.
  [[nodiscard]] bool standing();
  /// Has our thread stand in the line, if it does not.
  /// Throws  LedgerBusy if there can be no thread.
  static void stand(const std::shared_ptr<Line>& line);
  /// Requires  stand() was called since the last outcome.
  /// Returns   nothing if the time comes before the lock does; else 0, and we have it, or the system's error.
  [[nodiscard]] std::optional<int> outcome_until(Deadline time);
  /// What the thread gets it gives back, until somebody has it stand again.
  void lose_interest();
  /// Nobody asks again: the thread leaves the turnstile, and ends once it waits for nothing.
  void close();

 private:
  void start_thread(const std::shared_ptr<Line>& line);
  void stand_whenever_asked();
  [[nodiscard]] bool closed();

  const LockFile queue_;
  const LockFile lock_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool has_thread_ = false;
  bool standing_ = false;
  bool wanted_ = false;
  bool closed_ = false;
  std::optional<int> outcome_;
};

bool Line::standing() {
  const std::lock_guard guard(mutex_);
  return standing_;
}

void Line::stand(const std::shared_ptr<Line>& line) {
  const std::lock_guard guard(line->mutex_);
  if (!line->has_thread_) line->start_thread(line);
  line->wanted_ = true;
  line->standing_ = true;
  line->changed_.notify_all();
}

void Line::start_thread(const std::shared_ptr<Line>& line) {
  // Signals are the application's; none may be delivered to a thread it does not know of.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([line] { line->stand_whenever_asked(); }).detach();
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw LedgerBusy(std::string("cannot wait for the ledger's lock: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  has_thread_ = true;
}

void Line::stand_whenever_asked() {
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [this] { return standing_ || closed_; });
    if (!standing_) return;
    guard.unlock();
    int error = queue_.lock();
    if (error == 0 && !closed()) error = lock_.lock();
    guard.lock();
    standing_ = false;
    if (wanted_) {
      outcome_ = error;
      changed_.notify_all();  // before anybody else is woken, whose turn it is not
    } else {
      lock_.unlock();
      queue_.unlock();
    }
  }
}

std::optional<int> Line::outcome_until(Deadline time) {
  std::unique_lock guard(mutex_);
  changed_.wait_until(guard, time, [this] { return outcome_.has_value(); });
  return std::exchange(outcome_, std::nullopt);
}

void Line::lose_interest() {
  const std::lock_guard guard(mutex_);
  wanted_ = false;
  if (std::exchange(outcome_, std::nullopt)) lock_.unlock();
}

void Line::close() {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  queue_.unlock();  // it may wait for L.lock as it was long ago, and must keep nobody from today's meanwhile
}

bool Line::closed() {
  const std::lock_guard guard(mutex_);
  return closed_;
}

namespace {

[[noreturn]] void lose_patience(const LedgerFiles& files) {
  throw LedgerBusy("ledger " + files.database + " is in use by " + lock_holder(files) +
                   "; retry, or wait longer (--wait)");
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

ProcessLock::ProcessLock(LedgerFiles files) : files_(std::move(files)), process_(::getpid()) {}

ProcessLock::~ProcessLock() {
  // The thread is not in a forked child, and who held the mutex may not be there either.
  if (::getpid() == process_) leave_line();
}

void ProcessLock::leave_line() noexcept {
  if (line_ == nullptr) return;
  line_->lose_interest();
  if (!line_->standing())
    line_->lock().unlock();  // the thread may live a little longer, and with it the file
  line_->close();
  line_.reset();
}

/// A turnstile that has another name by now is nobody else's; and while our thread stands, it waits for
/// L.lock as it was.
void ProcessLock::open_files() {
  if (line_ != nullptr && !(line_->queue().named() && (!line_->standing() || line_->lock().named()))) {
    leave_line();
  }
  if (line_ == nullptr) line_ = std::make_shared<Line>(files_);
}

/// Where it fails we are at the head of the line, or not in it.
bool ProcessLock::try_to_take() {
  return !line_->standing() && line_->queue().try_lock() && line_->lock().try_lock();
}

bool ProcessLock::wait_in_line(Deadline deadline, accounting::CallbackRef<void(const std::string&)> waiting) {
  if (std::chrono::steady_clock::now() >= deadline) return false;
  Line::stand(line_);
  const Deadline until_said = deadline_after(kSilentWait);
  std::optional<int> outcome = line_->outcome_until(std::min(until_said, deadline));
  if (!outcome && until_said < deadline) {
    tell_whom_for(files_, waiting);
    outcome = line_->outcome_until(deadline);
  }
  if (!outcome) return false;
  if (*outcome != 0) throw_refused("cannot lock " + files_.lock(), *outcome);
  return true;
}

void ProcessLock::step_out() noexcept {
  line_->lose_interest();
  if (!line_->standing()) line_->queue().unlock();
}

/// The lock is ours; whether it is the one that counts. If not, it is given back.
bool ProcessLock::take_what_is_named() {
  if (!line_->lock().named()) {
    leave_line();
    return false;
  }
  share_lock_file(files_, line_->queue().descriptor());
  share_lock_file(files_, line_->lock().descriptor());
  return true;
}

void ProcessLock::take(Deadline deadline, accounting::CallbackRef<void(const std::string&)> waiting) {
  do {
    open_files();
    try {
      if (!try_to_take() && !wait_in_line(deadline, waiting)) lose_patience(files_);
    } catch (...) {
      step_out();
      throw;
    }
    line_->queue().unlock();
  } while (!take_what_is_named());
}

bool ProcessLock::take_until(Deadline deadline) {
  do {
    open_files();
    bool taken = false;
    try {
      taken = try_to_take() || wait_in_line(deadline, {});
    } catch (...) {
      step_out();
      throw;
    }
    step_out();
    if (!taken) return false;
  } while (!take_what_is_named());
  return true;
}

void ProcessLock::give_back() noexcept {
  if (line_ != nullptr) line_->lock().unlock();
}

int ProcessLock::file() const noexcept {
  return line_->lock().descriptor().get();
}

LockAttempt try_process_lock(const LedgerFiles& files) {
  const std::string path = files.lock();
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  bool writable = true;
  // Locking asks for no right to write; what is done under the lock may.
  auto lock = std::make_unique<LockFile>(path, [&path, &writable] {
    Descriptor opened(::open(path.c_str(), O_RDWR | kFlags));
    writable = opened.valid();
    return writable ? std::move(opened) : Descriptor(::open(path.c_str(), O_RDONLY | kFlags));
  });
  if (!lock->valid()) return {.taken = false, .writable = false, .lock = nullptr};
  if (!lock->try_lock() || !lock->named()) return {.taken = true, .writable = writable, .lock = nullptr};
  return {.taken = false, .writable = writable, .lock = std::move(lock)};
}

}  // namespace epsilog::ledger
