// Whose turn it is to write: first among the threads of this process, then among processes.
//
// Processes queue at a turnstile: flock(L.queue), flock(L.lock), unlock L.queue. Who comes again
// right after a turn finds the next one standing in the turnstile and has to wait behind it; with
// one lock alone it would get in again and again and starve the others.
//
// Both files stay open as long as the Ledger does (lock_file.hpp), and are looked at in every turn: one that
// was removed or replaced keeps nobody out, and is opened anew. A lock that a killed process held is gone.
//
// flock knows no deadline, and asking again and again would give up the place in the line. So whoever finds
// another process before it has a thread of this process stand there: one for each Ledger, started when that
// first happens, asleep otherwise. When the caller loses patience the thread stays in the line: the next one
// who asks has its place, and what it gets while nobody wants it, it gives back at once. Threads of one
// Ledger wait for each other without it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "ledger_files.hpp"
#include "lock_file.hpp"

#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

using Deadline = std::chrono::steady_clock::time_point;

/// A wait of "for ever" does not overflow the clock.
[[nodiscard]] Deadline deadline_after(std::chrono::milliseconds wait);

/// Turns of the threads of one Ledger, in order of arrival. Who gives a turn back hands it to the next one
/// and wakes nobody else: of many that wait, all but one would only find that it is not theirs. Thread-safe.
class ThreadQueue final {
 public:
  /// False if the deadline passes first, or `stop` is requested while it would have to wait.
  [[nodiscard]] bool take(Deadline deadline, const std::stop_token& stop = {});
  void give_back();

 private:
  struct QueuedThread {
    std::condition_variable changed;
    bool handed = false;  // the turn, which stays taken between the two
  };
  std::mutex mutex_;  // guards what follows, and every Waiting
  std::deque<QueuedThread*> waiting_;
  bool taken_ = false;
};

class WriterQueue;

/// The lock of all processes, for one Ledger. In a forked child it is neither held nor may anything be asked
/// of it but to be destroyed, which touches nothing of the parent's. Thread-safety: for one thread at a time.
class ProcessLock final {
 public:
  explicit ProcessLock(LedgerFiles files);
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;
  ~ProcessLock();

  /// Who waits for more than a second tells `report_wait` whom for.
  /// Requires  it is not taken.
  /// Throws  LedgerBusy if the deadline passes first, saying who has it; WaitStopped if `stop` is requested while
  ///         it would have to wait; LedgerBusy or LedgerUnusable if the lock files cannot be made.
  void take(Deadline deadline, accounting::CallbackRef<void(const std::string&)> report_wait = {},
            const std::stop_token& stop = {});
  /// False if the deadline passes first, or `stop` is requested. A deadline that is over: in the line but without
  /// waiting in it, false if anybody has the lock or stands before us.
  /// Requires and Throws  as take, of the lock files.
  [[nodiscard]] bool take_until(Deadline deadline, const std::stop_token& stop = {});
  /// Repeatable.
  void give_back() noexcept;
  /// L.lock, to be read and written.
  /// Requires  it is taken.
  [[nodiscard]] int file() const noexcept;

 private:
  void open_files();
  [[nodiscard]] bool try_to_take();
  [[nodiscard]] bool wait_in_queue(Deadline deadline,
                                   accounting::CallbackRef<void(const std::string&)> report_wait,
                                   const std::stop_token& stop);
  [[nodiscard]] bool keep_if_current();
  void leave_queue() noexcept;
  void drop_queue() noexcept;

  const LedgerFiles files_;
  const pid_t process_;
  std::shared_ptr<WriterQueue>
      writer_queue_;  // null until the first turn; shared with the thread that stands in it
};

/// What came of asking for that lock without waiting.
struct LockAttempt {
  bool taken = false;              ///< somebody else has it
  bool writable = false;           ///< the lock file may be written to
  std::unique_ptr<LockFile> lock;  ///< null unless it was free; held as long as this lives
};
/// Passes by the turnstile: only for what is done at once, by those who otherwise take no turn.
[[nodiscard]] LockAttempt try_process_lock(const LedgerFiles& files);

}  // namespace epsilog::ledger
