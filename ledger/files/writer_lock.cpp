#include "writer_lock.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/wait_stopped.hpp"
#include "lock_holder.hpp"

namespace epsilog::ledger {

/// The two lock files, and who stands in the line between them.
class WriterQueue final {
 public:
  explicit WriterQueue(const LedgerFiles& files)
      : queue_(files.queue(), [&files] { return open_lock_file(files, files.queue()); }),
        lock_(files.lock(), [&files] { return open_lock_file(files, files.lock()); }) {}

  [[nodiscard]] const LockFile& queue() const noexcept { return queue_; }
  [[nodiscard]] const LockFile& lock() const noexcept { return lock_; }

  /// Whether our thread stands in the line, for a caller who lost patience.
  [[nodiscard]] bool is_queued();
  /// Has our thread stand in the line, if it does not.
  /// Throws  LedgerBusy if there can be no thread.
  static void enqueue(const std::shared_ptr<WriterQueue>& self);
  /// Requires  enqueue() was called since the last outcome.
  /// Returns   nothing if the time comes before the lock does, or `stop` is requested; else 0, and we have it,
  ///           or the system's error.
  [[nodiscard]] std::optional<int> outcome_until(Deadline time, const std::stop_token& stop);
  /// What the thread gets it gives back, until somebody has it stand again.
  void stop_waiting();
  /// Nobody asks again: the thread leaves the turnstile, and ends once it waits for nothing.
  void close();

 private:
  void start_thread(const std::shared_ptr<WriterQueue>& self);
  void wait_for_lock_when_asked();
  [[nodiscard]] bool closed();

  const LockFile queue_;
  const LockFile lock_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool has_thread_ = false;
  bool queued_ = false;
  bool wanted_ = false;
  bool closed_ = false;
  std::optional<int> outcome_;
};

bool WriterQueue::is_queued() {
  const std::lock_guard guard(mutex_);
  return queued_;
}

void WriterQueue::enqueue(const std::shared_ptr<WriterQueue>& self) {
  const std::lock_guard guard(self->mutex_);
  if (!self->has_thread_) self->start_thread(self);
  self->wanted_ = true;
  self->queued_ = true;
  self->changed_.notify_all();
}

void WriterQueue::start_thread(const std::shared_ptr<WriterQueue>& self) {
  // Signals are the application's; none may be delivered to a thread it does not know of.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([self] { self->wait_for_lock_when_asked(); }).detach();
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw LedgerBusy(std::string("cannot wait for the ledger's lock: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  has_thread_ = true;
}

void WriterQueue::wait_for_lock_when_asked() {
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [this] { return queued_ || closed_; });
    if (!queued_) return;
    guard.unlock();
    int error = queue_.lock();
    if (error == 0 && !closed()) error = lock_.lock();
    guard.lock();
    queued_ = false;
    if (wanted_) {
      outcome_ = error;
      changed_.notify_all();  // before anybody else is woken, whose turn it is not
    } else {
      lock_.unlock();
      queue_.unlock();
    }
  }
}

std::optional<int> WriterQueue::outcome_until(Deadline time, const std::stop_token& stop) {
  // Made before the lock is taken and destroyed after it is given back: it takes the lock itself.
  const std::stop_callback wake(stop, [this] {
    const std::lock_guard guard(mutex_);
    changed_.notify_all();
  });
  std::unique_lock guard(mutex_);
  changed_.wait_until(guard, time, [&] { return outcome_.has_value() || stop.stop_requested(); });
  return std::exchange(outcome_, std::nullopt);
}

void WriterQueue::stop_waiting() {
  const std::lock_guard guard(mutex_);
  wanted_ = false;
  if (std::exchange(outcome_, std::nullopt)) lock_.unlock();
}

void WriterQueue::close() {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  queue_.unlock();  // it may wait for L.lock as it was long ago, and must keep nobody from today's meanwhile
}

bool WriterQueue::closed() {
  const std::lock_guard guard(mutex_);
  return closed_;
}

namespace {

[[noreturn]] void throw_lock_timeout(const LedgerFiles& files) {
  throw LedgerBusy("ledger " + files.database + " is in use by " + lock_holder(files) +
                   "; retry, or wait longer (--wait)");
}

}  // namespace

Deadline deadline_after(std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() + std::clamp(wait, std::chrono::milliseconds(0), kLongest);
}

bool ThreadQueue::take(Deadline deadline, const std::stop_token& stop) {
  QueuedThread mine;
  // As in outcome_until(): outside the lock at both ends.
  const std::stop_callback wake(stop, [this, &mine] {
    const std::lock_guard guard(mutex_);
    mine.changed.notify_one();
  });
  std::unique_lock guard(mutex_);
  if (!taken_) {
    taken_ = true;
    return true;
  }
  waiting_.push_back(&mine);
  mine.changed.wait_until(guard, deadline, [&] { return mine.handed || stop.stop_requested(); });
  if (!mine.handed) std::erase(waiting_, &mine);
  return mine.handed;
}

void ThreadQueue::give_back() {
  const std::lock_guard guard(mutex_);
  taken_ = !waiting_.empty();
  if (!taken_) return;
  QueuedThread& next = *waiting_.front();
  waiting_.pop_front();
  next.handed = true;
  next.changed.notify_one();  // under the lock: it is gone once its thread goes on
}

ProcessLock::ProcessLock(LedgerFiles files) : files_(std::move(files)), process_(::getpid()) {}

ProcessLock::~ProcessLock() {
  // The thread is not in a forked child, and who held the mutex may not be there either.
  if (::getpid() == process_) drop_queue();
}

void ProcessLock::drop_queue() noexcept {
  if (writer_queue_ == nullptr) return;
  writer_queue_->stop_waiting();
  if (!writer_queue_->is_queued())
    writer_queue_->lock().unlock();  // the thread may live a little longer, and with it the file
  writer_queue_->close();
  writer_queue_.reset();
}

/// A turnstile that has another name by now is nobody else's; and while our thread stands, it waits for
/// L.lock as it was.
void ProcessLock::open_files() {
  if (writer_queue_ != nullptr &&
      !(writer_queue_->queue().named() && (!writer_queue_->is_queued() || writer_queue_->lock().named()))) {
    drop_queue();
  }
  if (writer_queue_ == nullptr) writer_queue_ = std::make_shared<WriterQueue>(files_);
}

/// Where it fails we are at the head of the line, or not in it.
bool ProcessLock::try_to_take() {
  return !writer_queue_->is_queued() && writer_queue_->queue().try_lock() && writer_queue_->lock().try_lock();
}

bool ProcessLock::wait_in_queue(Deadline deadline,
                                accounting::CallbackRef<void(const std::string&)> report_wait,
                                const std::stop_token& stop) {
  if (stop.stop_requested() || std::chrono::steady_clock::now() >= deadline) return false;
  WriterQueue::enqueue(writer_queue_);
  const Deadline until_said = deadline_after(kReportHolderAfter);
  std::optional<int> outcome = writer_queue_->outcome_until(std::min(until_said, deadline), stop);
  if (!outcome && until_said < deadline && !stop.stop_requested()) {
    report_lock_holder(files_, report_wait);
    outcome = writer_queue_->outcome_until(deadline, stop);
  }
  if (!outcome) return false;
  if (*outcome != 0) throw_refused("cannot lock " + files_.lock(), *outcome);
  return true;
}

void ProcessLock::leave_queue() noexcept {
  writer_queue_->stop_waiting();
  if (!writer_queue_->is_queued()) writer_queue_->queue().unlock();
}

/// The lock is ours; whether it is the one that counts. If not, it is given back.
bool ProcessLock::keep_if_current() {
  if (!writer_queue_->lock().named()) {
    drop_queue();
    return false;
  }
  share_lock_file(files_, writer_queue_->queue().descriptor());
  share_lock_file(files_, writer_queue_->lock().descriptor());
  return true;
}

void ProcessLock::take(Deadline deadline, accounting::CallbackRef<void(const std::string&)> report_wait,
                       const std::stop_token& stop) {
  do {
    open_files();
    try {
      if (!try_to_take() && !wait_in_queue(deadline, report_wait, stop)) {
        if (stop.stop_requested()) throw WaitStopped::of_ledger(files_.database);
        throw_lock_timeout(files_);
      }
    } catch (...) {
      leave_queue();
      throw;
    }
    writer_queue_->queue().unlock();
  } while (!keep_if_current());
}

bool ProcessLock::take_until(Deadline deadline, const std::stop_token& stop) {
  do {
    open_files();
    bool taken = false;
    try {
      taken = try_to_take() || wait_in_queue(deadline, {}, stop);
    } catch (...) {
      leave_queue();
      throw;
    }
    leave_queue();
    if (!taken) return false;
  } while (!keep_if_current());
  return true;
}

void ProcessLock::give_back() noexcept {
  if (writer_queue_ != nullptr) writer_queue_->lock().unlock();
}

int ProcessLock::file() const noexcept {
  return writer_queue_->lock().descriptor().get();
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
