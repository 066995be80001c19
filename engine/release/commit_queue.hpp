// Who waits to be recorded, and who records what waits.
//
// One at a time leads: takes what waits into its group, records it, and gives the lead up. Whoever comes
// while nobody leads does so at once, and waits for nobody.
//
// A place may be due later (answer_tick.hpp): until then it is neither taken nor leads. Those that wait stand
// in the order in which their calls arrived, however long each took to get here: of places that are due at
// one time none is before another for having been ready sooner, whichever thread wakes first.
//
// States of a place, and who moves it
//   outside -> leads    await(), if nobody leads
//   outside -> waiting  await(), submit()
//   waiting -> taken    take_group(), by who leads
//   waiting -> leads    end(), by who led before; next(); await() of any that became due, if nobody leads
//   waiting -> late     await(), when its deadline passes or its caller stops it: it is outside again
//   taken   -> served   end(): whoever has left by then, it is recorded
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace epsilog::engine {

/// Thread-safety: may be used from several threads.
class CommitQueue final {
 public:
  static constexpr std::size_t kMembersMax = 256;
  static constexpr std::size_t kMovementsMax = 4'096;
  using Clock = std::chrono::steady_clock;
  using Deadline = Clock::time_point;

  class QueueEntry {
   public:
    /// `movements`: of how many accounts the balance may change. Beyond kMovementsMax it shares no group.
    QueueEntry(std::string principal, std::size_t movements)
        : principal_(std::move(principal)), movements_(movements), arrived_(Clock::now()) {}
    QueueEntry(const QueueEntry&) = delete;
    QueueEntry& operator=(const QueueEntry&) = delete;
    /// Not before `due`, and then as who arrived at `arrived`.
    /// Requires  it is not in the line yet.
    void set_due(Deadline due, Deadline arrived) {
      due_ = due;
      arrived_ = arrived;
    }
    [[nodiscard]] Deadline due() const { return due_; }

   private:
    friend class CommitQueue;
    enum class Signal { none, leads, served };

    const std::string principal_;
    const std::size_t movements_;
    Deadline arrived_;
    Deadline due_ = Deadline::min();
    bool submitted_ = false;
    bool waiting_ = false;  // guarded by the line's mutex, as what follows
    QueueEntry* next_served_ = nullptr;
    std::list<QueueEntry*>::iterator in_arrivals_;
    std::list<QueueEntry*>::iterator in_queue_;
    std::mutex mutex_;  // guards what it is told
    std::condition_variable signalled_;
    Signal signal_ = Signal::none;
  };

  enum class WaitOutcome { leads, served, late };
  /// Waits until somebody has recorded it, or it is its own turn to lead.
  /// Requires  a place that was not used before, and is due by the deadline.
  /// Ensures   late only if it was not taken by the deadline, or when `stop` was requested.
  [[nodiscard]] WaitOutcome await(QueueEntry& entry, Deadline deadline, const std::stop_token& stop = {});

  /// Its own first, then by turns the oldest that is due of each principal, within the limits of a group.
  /// Requires  the caller leads with `own`, and calls end() with what it took.
  [[nodiscard]] std::vector<QueueEntry*> take_group(QueueEntry& own);
  /// The lead is given up, and what was taken beside `taken.front()`, the leader's own, is told.
  void end(std::vector<QueueEntry*> taken) noexcept;

  // For those who do not wait themselves, one thread.

  /// Leaves a place there: next() says what becomes of it.
  void submit(QueueEntry& entry);
  /// A place that needs no turn: next() says it is served.
  void submit_served(QueueEntry& entry);
  struct Work {
    QueueEntry* leads = nullptr;   ///< the caller leads with it
    QueueEntry* served = nullptr;  ///< somebody else has recorded it
  };
  /// Waits for one or the other; neither once the line is closed and nothing submitted waits.
  [[nodiscard]] Work next();
  void close();

 private:
  void add(QueueEntry& entry);
  void remove(QueueEntry& entry);
  void appoint_leader();
  void add_served(QueueEntry& entry) noexcept;
  [[nodiscard]] QueueEntry* next_leader();
  void wake() noexcept;
  static void send_signal(QueueEntry& entry, QueueEntry::Signal word) noexcept;
  [[nodiscard]] static WaitOutcome wait_outcome(QueueEntry& entry);

  std::mutex mutex_;  // guards what follows
  bool has_leader_ = false;
  std::list<QueueEntry*> arrivals_;                       // that wait, in order of arrived_
  std::map<std::string, std::list<QueueEntry*>> queues_;  // the same by principal; none is empty
  std::string last_;                                      // the principal whose turn it was last
  QueueEntry* served_first_ = nullptr;                    // of those submitted, oldest first
  QueueEntry* served_last_ = nullptr;
  std::condition_variable work_;
  bool idle_ = false;  // somebody waits in next(), and was not woken
  bool closed_ = false;
};

}  // namespace epsilog::engine
