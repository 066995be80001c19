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
//   waiting -> taken    take(), by who leads
//   waiting -> leads    end(), by who led before; next(); await() of any that became due, if nobody leads
//   waiting -> late     await(), when its deadline passes: it is outside again
//   taken   -> served   end(): whoever has left by then, it is recorded
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace epsilog::engine {

/// Thread-safety: may be used from several threads.
class GroupLine final {
 public:
  static constexpr std::size_t kMembersMax = 256;
  static constexpr std::size_t kMovementsMax = 4'096;
  using Clock = std::chrono::steady_clock;
  using Deadline = Clock::time_point;

  class Place {
   public:
    /// `movements`: of how many accounts the balance may change. Beyond kMovementsMax it shares no group.
    Place(std::string principal, std::size_t movements)
        : principal_(std::move(principal)), movements_(movements), arrived_(Clock::now()) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    /// Not before `due`, and then as who arrived at `arrived`.
    /// Requires  it is not in the line yet.
    void hold(Deadline due, Deadline arrived) {
      due_ = due;
      arrived_ = arrived;
    }
    [[nodiscard]] Deadline due() const { return due_; }

   private:
    friend class GroupLine;
    enum class Word { none, leads, served };

    const std::string principal_;
    const std::size_t movements_;
    Deadline arrived_;
    Deadline due_ = Deadline::min();
    bool submitted_ = false;
    bool waiting_ = false;  // guarded by the line's mutex, as what follows
    Place* next_served_ = nullptr;
    std::list<Place*>::iterator in_arrivals_;
    std::list<Place*>::iterator in_queue_;
    std::mutex mutex_;  // guards what it is told
    std::condition_variable told_;
    Word word_ = Word::none;
  };

  enum class Turn { leads, served, late };
  /// Waits until somebody has recorded it, or it is its own turn to lead.
  /// Requires  a place that was not used before, and is due by the deadline.
  /// Ensures   late only if it was not taken by the deadline.
  [[nodiscard]] Turn await(Place& place, Deadline deadline);

  /// Its own first, then by turns the oldest that is due of each principal, within the limits of a group.
  /// Requires  the caller leads with `own`, and calls end() with what it took.
  [[nodiscard]] std::vector<Place*> take(Place& own);
  /// The lead is given up, and what was taken beside `taken.front()`, the leader's own, is told.
  void end(std::vector<Place*> taken) noexcept;

  // For those who do not wait themselves, one thread.

  /// Leaves a place there: next() says what becomes of it.
  void submit(Place& place);
  /// A place that needs no turn: next() says it is served.
  void submit_served(Place& place);
  struct Work {
    Place* leads = nullptr;   ///< the caller leads with it
    Place* served = nullptr;  ///< somebody else has recorded it
  };
  /// Waits for one or the other; neither once the line is closed and nothing submitted waits.
  [[nodiscard]] Work next();
  void close();

 private:
  void add(Place& place);
  void remove(Place& place);
  void lead_if_nobody_does();
  void add_served(Place& place) noexcept;
  [[nodiscard]] Place* heir();
  void wake() noexcept;
  static void tell(Place& place, Place::Word word) noexcept;
  [[nodiscard]] static Turn heard(Place& place);

  std::mutex mutex_;  // guards what follows
  bool led_ = false;
  std::list<Place*> arrivals_;                       // that wait, in order of arrived_
  std::map<std::string, std::list<Place*>> queues_;  // the same by principal; none is empty
  std::string last_;                                 // the principal whose turn it was last
  Place* served_first_ = nullptr;                    // of those submitted, oldest first
  Place* served_last_ = nullptr;
  std::condition_variable work_;
  bool idle_ = false;  // somebody waits in next(), and was not woken
  bool closed_ = false;
};

}  // namespace epsilog::engine
