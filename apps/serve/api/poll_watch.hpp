// Wakes long polls: one look at the ledger for all of them, and one thread that notices which clients are
// gone.
//
// A poll waits in the thread of its connection. The thread of the watch looks at the ledger when this process
// recorded something, and every 100 ms because other processes may have. It wakes the polls that a new
// decision can concern, and all of them when the policy or a credential changed. A poll that is woken looks
// for itself: it decides again who asks, and then what there is to tell (Call::poll).
//
// No news is missed. A poll is in the list before it looks, and says what it awaits before it looks. What is
// recorded after its look is therefore found by a look of the watch that tells the list as it is afterwards.
// Where it is not sure whom a decision concerns, the watch wakes everybody.
//
// Thread-safety: may be used from several threads. The mutex guards the list and all polls in it. The thread
// of the watch passes descriptors to poll(2) without the mutex, when their owners may have closed them; what
// poll(2) says of one counts only while its poll is still in the list, under a number that no other poll ever
// has.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "descriptor.hpp"

namespace epsilog::serve {

/// Whom the decisions can concern that were recorded since the look before.
struct News {
  bool all = false;              ///< everybody
  std::set<std::string> askers;  ///< those who wait for something of these principals

  [[nodiscard]] bool concerns(const std::string& asker) const {
    return all || (asker.empty() ? !askers.empty() : askers.contains(asker));
  }
};

/// What a poll waits for.
struct PollCondition {
  bool decisions = true;   ///< false: for no decision, but for a change of the policy or a credential
  std::string asker = {};  ///< of requests of this principal; "": of all
  std::function<bool()> ended = {};  ///< or for this to be true; asked by the thread of the watch, and quick
};

class PollWatch final {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns the news since it was called last. With `first`, it was not called for a while: it returns news
  /// for all without reading what they are.
  using ReadNews = std::function<News(bool first)>;

  /// `read_news` is called by one thread at a time.
  /// Throws  Error if there is no descriptor or thread for it.
  explicit PollWatch(ReadNews read_news);
  PollWatch(const PollWatch&) = delete;
  PollWatch& operator=(const PollWatch&) = delete;
  /// Requires  no poll waits.
  ~PollWatch();

  /// One poll, for as long as it lives. Thread-safety: one thread.
  class WaitingPoll final {
   public:
    /// `socket` is -1 or stays open as long as this lives: what is sent on it is not looked at.
    WaitingPoll(PollWatch& watch, int socket);
    WaitingPoll(const WaitingPoll&) = delete;
    WaitingPoll& operator=(const WaitingPoll&) = delete;
    ~WaitingPoll();

    /// From now on it is woken for this.
    void await(PollCondition awaited);
    /// Waits for news. Returns false if there are none: it is time, the client is gone, or stop() was called.
    [[nodiscard]] bool wait(Clock::time_point until);

   private:
    friend class PollWatch;
    PollWatch& watch_;
    const int socket_;
    std::uint64_t number_ = 0;
    PollCondition awaited_;
    bool news_ = false;
    bool gone_ = false;
    std::condition_variable woken_;
  };

  /// Something may have been recorded.
  void notify_recorded() noexcept;
  /// No poll waits any longer.
  void stop() noexcept;

 private:
  void work() noexcept;
  void wake_polls(bool first) noexcept;

  const ReadNews read_news_;
  Bell bell_;
  std::mutex mutex_;  // guards what follows
  std::map<std::uint64_t, WaitingPoll*> waiting_polls_;
  std::uint64_t last_number_ = 0;
  bool recorded_ = false;
  bool stopped_ = false;
  bool ends_ = false;
  std::thread thread_;  // last: it uses what is above
};

}  // namespace epsilog::serve
