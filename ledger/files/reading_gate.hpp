// Where the readers of a file within this process pass by, so that its writer can have it to itself for a
// moment.
//
// SQLite begins its log anew only while no reader stands in it. Readers that overlap one another leave it no
// such moment, however short each of them is, and the log grows with every COMMIT. The writer therefore
// closes the gate now and then: who reads goes on to the end, who begins waits, for kLongestClosing and no
// longer, whatever the writer does. That bound is what makes the gate free of deadlocks: a thread that holds
// a snapshot and makes another, or writes while it reads, loses that time, and the writer its attempt.
//
// The gate is a courtesy: no guarantee rests on it, for whom SQLite lets read it gives a consistent view.
// Readers of other processes do not know of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "ledger_files.hpp"

namespace epsilog::ledger {

/// Thread-safe.
class ReadingGate final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// No reader waits longer, but for what the machine takes to let it run again.
  static constexpr std::chrono::milliseconds kLongestClosing{20};

  /// The one gate of this process for that file, for ever; a forked child has its own.
  [[nodiscard]] static ReadingGate& gate_of(const FileIdentity& file);

  /// A reader in the file, while it lives. Making one waits while the gate is closed.
  class Reader final {
   public:
    explicit Reader(ReadingGate& gate);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();

   private:
    ReadingGate& gate_;
  };

  /// The gate closed, while this lives and at most kLongestClosing.
  /// Requires  whoever makes it has the turn: one at a time.
  class ClosedScope final {
   public:
    explicit ClosedScope(ReadingGate& gate);
    ClosedScope(const ClosedScope&) = delete;
    ClosedScope& operator=(const ClosedScope&) = delete;
    ~ClosedScope();
    /// Waits until nobody reads, at most for that time. Returns whether nobody does.
    bool await_readers(std::chrono::milliseconds wait);
    /// What is left of kLongestClosing; 0 if nothing is.
    [[nodiscard]] std::chrono::milliseconds left() const;

   private:
    ReadingGate& gate_;
    const Time opens_;
  };

  /// How long a reader had to wait, at most, since the gate was made.
  [[nodiscard]] std::chrono::nanoseconds longest_wait() const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::int64_t readers_ = 0;
  bool closed_ = false;
  Time opens_{};  // whatever happens, once it is closed
  std::chrono::nanoseconds longest_wait_{0};
};

}  // namespace epsilog::ledger
