// Whose turn it is to write: first among the threads of this process, then among processes.
//
// Processes queue at a turnstile: flock(L.queue), flock(L.lock), unlock L.queue. Who comes again
// right after a turn finds the next one standing in the turnstile and has to wait behind it; with
// one lock alone it would get in again and again and starve the others.
//
// An flock belongs to its open file description, so every turn opens its own: the lock is gone when
// the descriptor is, also after kill -9, and survives nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "ledger_files.hpp"

#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

using Deadline = std::chrono::steady_clock::time_point;

/// A wait of "for ever" does not overflow the clock.
[[nodiscard]] Deadline deadline_after(std::chrono::milliseconds wait);

/// Turns of the threads of one Ledger, in order of arrival. Who gives a turn back hands it to the next one
/// and wakes nobody else: of many that wait, all but one would only find that it is not theirs. Thread-safe.
class ThreadTurns final {
 public:
  /// False if the deadline passes first.
  [[nodiscard]] bool take(Deadline deadline);
  void give_back();

 private:
  struct Waiting {
    std::condition_variable changed;
    bool handed = false;  // the turn, which stays taken between the two
  };
  std::mutex mutex_;  // guards what follows, and every Waiting
  std::deque<Waiting*> waiting_;
  bool taken_ = false;
};

/// Takes the lock of all processes. It is held as long as the descriptor lives.
/// Who waits for more than a second tells `waiting` whom for.
/// Throws  LedgerBusy if the deadline passes first, saying who has it; LedgerBusy or LedgerUnusable if the
///         lock files cannot be made.
[[nodiscard]] Descriptor take_process_lock(const LedgerFiles& files, Deadline deadline,
                                           accounting::CallbackRef<void(const std::string&)> waiting = {});

/// The same, in the line but without waiting in it: invalid if anybody has the lock or stands before us.
/// Throws  as take_process_lock of the lock files.
[[nodiscard]] Descriptor take_process_lock_at_once(const LedgerFiles& files);

/// What came of asking for that lock without waiting.
struct LockAttempt {
  bool taken = false;     ///< somebody else has it
  bool writable = false;  ///< the lock file may be written to
  Descriptor lock;        ///< invalid unless it was free
};
/// Passes by the turnstile: only for what is done at once, by those who otherwise take no turn.
[[nodiscard]] LockAttempt try_process_lock(const LedgerFiles& files);

}  // namespace epsilog::ledger
