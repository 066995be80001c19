// How much processor time each principal may use for what changes nothing: plans, forecasts, lists, refusals.
//
// An account is filled at a steady rate up to a burst, and whoever computes pays as they go. Who has nothing
// left waits; a computation under way goes on until it owes a whole burst, so that one that fits into a burst
// always ends. Whole nanoseconds: no floating-point number is computed with. Thread-safety: may be used from
// several threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

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
  [[nodiscard]] std::chrono::milliseconds wait(const std::string& principal);
  /// Takes what was used. Returns whether the principal owes as much as it may: what it computes ends then.
  bool spend(const std::string& principal, Time used);

  void change(const ProcessorLimits& limits);

 private:
  struct Account {
    Time left{};  ///< below zero: owed
    Clock::time_point filled{};
  };
  /// The account, filled. Requires  the lock.
  Account& filled(const std::string& principal);

  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;  // guards what follows
  ProcessorLimits limits_;
  std::map<std::string, Account> accounts_;  // those that are full are forgotten
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
