// Who is taken on, who waits, and who is told to come back.
//
//   entered   counted by principal: how fast, how many at once, how many refusals in the last hour
//   running   has one of the places in which requests are answered; until then it waits in the line of its
//             principal, and the principals take turns
//
// All of it ends before anything is recorded. What came over the curator socket has places of its own, so
// that no number of others keeps a curator waiting. Thread-safety: may be used from several threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "body_memory.hpp"

namespace epsilog::serve {

struct AdmissionLimits {
  std::size_t running = 64;
  std::size_t curator_running = 64;  ///< as many as connections of theirs: none of them waits
  std::size_t waiting = 1024;
  std::size_t in_flight = 16;
  std::size_t long_polls = 16;
  std::size_t per_second = 100;
  std::size_t burst = 200;
  std::size_t body_bytes = 64 << 20;
  std::chrono::milliseconds wait_max{10'000};  ///< how long one waits for a place, and for room for a body
};

enum class AdmissionDenial {
  too_fast,             ///< 429: the principal asks faster than it may
  too_many,             ///< 429: the principal has too many requests under way
  too_many_long_polls,  ///< 429: the principal has too many long polls
  full,                 ///< 503: too much waits already, or waited too long
  stopping,             ///< 503: the daemon ends
};

class Admission final {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Admission(const AdmissionLimits& limits, std::function<Clock::time_point()> now = Clock::now);
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// Counts for as long as it lives.
  class Entry final {
   public:
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&&) = delete;
    ~Entry();

    /// Waits for a place, in turn. None: it has one until the entry ends.
    [[nodiscard]] std::optional<AdmissionDenial> wait_for_slot();
    /// Promises a place to a request that cannot be refused any more once its body has begun: it counts as
    /// one that waits, holds no place until wait_for_promised_slot(), and is refused here or never.
    [[nodiscard]] std::optional<AdmissionDenial> promise_slot();
    /// Waits for the place that was promised, for as long as it takes, also after stop().
    /// Requires  promise_slot() returned none.
    void wait_for_promised_slot();
    /// Takes memory for so many bytes more of the body, until the entry ends, and waits in line for it
    /// (body_memory.hpp).
    [[nodiscard]] std::optional<AdmissionDenial> try_take_memory(std::size_t bytes);
    /// The same for a body that cannot be refused any more.
    void take_memory(std::size_t bytes);
    /// It is a batch of so many requests, and counts as that many: under way, and by how fast its principal
    /// asks. One that is larger than what may be asked at once is let in where all of that is there, and is
    /// paid off by waiting afterwards. Call it once at most.
    [[nodiscard]] std::optional<AdmissionDenial> count_requests(std::size_t requests);
    /// Gives its place up, and counts as a long poll instead of as a request under way.
    [[nodiscard]] std::optional<AdmissionDenial> become_long_poll();

   private:
    friend class Admission;
    Entry(Admission& admission, std::string principal, bool curator, std::uint32_t user);
    [[nodiscard]] bool try_take_slot();

    Admission* admission_;
    std::string principal_;
    bool curator_;
    bool running_ = false;
    bool promised_ = false;
    bool long_poll_ = false;
    BodyMemory::Claim body_;
    std::size_t requests_ = 1;  // under way
  };

  /// `user` is the uid that the request comes from.
  [[nodiscard]] std::variant<Entry, AdmissionDenial> enter(const std::string& principal, bool curator,
                                                           std::uint32_t user = 0);

  /// Returns whether a request of that name could be asked now, as far as its rate goes. Takes nothing.
  [[nodiscard]] bool is_within_rate(const std::string& principal);

  void change(const AdmissionLimits& limits);
  /// From now on nobody enters, and who waits is told so.
  void stop();

  struct Figures {
    std::size_t running = 0;
    std::size_t waiting = 0;
    std::size_t long_polls = 0;
    std::size_t body_bytes = 0;
    std::size_t bodies_waiting = 0;
  };
  [[nodiscard]] Figures figures() const;

 private:
  struct Waiter {
    std::condition_variable woken;
    bool has_slot = false;
  };
  struct Principal {
    std::size_t in_flight = 0;
    std::size_t long_polls = 0;
    double tokens =
        0;  // of requests it may still make at once, below 0 after a batch; no quantity of privacy
    Clock::time_point filled_at{};
    std::deque<Waiter*> waiting;
  };

  Principal& principal(const std::string& name);
  void leave(Entry& entry) noexcept;
  void free_slot(bool curator);
  void forget(const std::string& name);
  void fill(Principal& principal);

  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;  // guards what follows
  AdmissionLimits limits_;
  std::map<std::string, Principal> principals_;
  std::string last_served_principal_;  // whose turn it was last
  std::size_t running_ = 0;
  std::size_t curator_running_ = 0;
  std::size_t waiting_ = 0;
  std::size_t long_polls_ = 0;
  std::size_t promised_ = 0;  // places that nobody waits for yet
  bool stopping_ = false;
  BodyMemory bodies_;  // has a mutex of its own, which is taken last
};

}  // namespace epsilog::serve
