// How much processor time each principal may use for what changes nothing: plans, forecasts, lists, refusals.
//
// An account is filled at a steady rate up to a burst, and whoever computes pays as they go. Who has nothing
// left waits; a computation under way goes on until it owes a whole burst, so that one that fits into a burst
// always ends. What one principal asks is computed in turn, so that a burst of it takes no more than one
// processor from others. Whole nanoseconds: no floating-point number is computed with. Thread-safety: may be
// used from several threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace epsilog::serve {

/// Requires  both above zero.
struct ProcessorLimits {
  std::chrono::milliseconds per_second{200};  ///< in the long run
  std::chrono::milliseconds burst{10'000};    ///< and at once
};

class ProcessorTime final {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = std::chrono::nanoseconds;

  explicit ProcessorTime(const ProcessorLimits& limits, std::function<Clock::time_point()> now = Clock::now)
      : now_(std::move(now)), limits_(limits) {}

  /// Returns how long the principal has to wait until there is time left; zero: not at all.
  [[nodiscard]] std::chrono::milliseconds time_to_wait(const std::string& principal);
  /// Takes what was used. Returns whether the principal owes as much as it may: what it computes ends then.
  bool spend(const std::string& principal, Time used);

  void change(const ProcessorLimits& limits);

  /// The turn of a principal to compute, which one computation of it has at a time. Thread-safety: one
  /// thread.
  class ComputeLock final {
   public:
    ComputeLock(ProcessorTime& time, std::string principal) : time_(time), principal_(std::move(principal)) {}
    ComputeLock(const ComputeLock&) = delete;
    ComputeLock& operator=(const ComputeLock&) = delete;
    ~ComputeLock() { release(); }

    /// Waits until nobody else has it. Returns false if `given_up`, which is asked now and then, said so
    /// before.
    [[nodiscard]] bool acquire(const std::function<bool()>& given_up);
    void release() noexcept;

   private:
    ProcessorTime& time_;
    const std::string principal_;
    bool acquired_ = false;
  };

 private:
  struct Allowance {
    Time left{};  ///< below zero: owed
    Clock::time_point filled_at{};
  };
  /// The account, filled.
  /// Requires  the lock.
  Allowance& refilled_allowance(const std::string& principal);

  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;  // guards what follows
  ProcessorLimits limits_;
  std::map<std::string, Allowance> allowances_;  // those that are full are forgotten
  std::set<std::string> computing_principals_;   // principals of whom somebody has the turn
  std::condition_variable released_;
};

/// Processor time of the calling thread, from its making on.
class ThreadTime final {
 public:
  ThreadTime() : last_(now()) {}
  /// Returns what was used since it was asked last.
  [[nodiscard]] ProcessorTime::Time lap();

 private:
  static ProcessorTime::Time now();
  ProcessorTime::Time last_;
};

}  // namespace epsilog::serve
