// How much memory the bodies that are being read may take, in all and for each who sends them.
//
// A body takes room as its bytes arrive. If there is none, its reader waits in line, and so its sender waits
// too: the socket takes no more. One principal, and one user of the machine, hold at most a quarter of the
// room, so that neither can fill it alone.
//
// Bodies that are half there must not wait for one another for ever. Whenever readers wait, one body has
// precedence until it ends: it takes what it needs beyond every limit. When it ends, the precedence goes to
// the reader that has waited longest. So some body can always go on, whatever the others hold, and the bodies
// together take at most the room and one body more.
//
// Thread-safety: may be used from several threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace epsilog::serve {

class BodyMemory final {
 public:
  struct Limits {
    std::size_t bytes = 0;
    std::chrono::milliseconds wait_max{0};  ///< how long the reader of one body waits for room, in all
  };

  explicit BodyMemory(const Limits& limits) : limits_(limits) {}
  BodyMemory(const BodyMemory&) = delete;
  BodyMemory& operator=(const BodyMemory&) = delete;

  /// What one principal, or one user, has.
  struct Share {
    std::size_t bytes = 0;
    std::size_t claims = 0;  ///< that refer to it
  };

  /// The room that one body has, which is given back when this ends. Thread-safety: one thread.
  class Claim final {
   public:
    Claim(BodyMemory& room, std::string principal, std::uint32_t user);
    Claim(Claim&& other) noexcept;
    Claim& operator=(Claim&&) = delete;
    ~Claim();

    /// Takes so many bytes more, and waits in line for them.
    /// Returns false if patience ended, or stop() was called: then it took none.
    [[nodiscard]] bool try_take_memory(std::size_t bytes);
    /// The same for a body that cannot be refused any more: waits for as long as it takes, after stop() too.
    void take_memory(std::size_t bytes);

   private:
    friend class BodyMemory;
    bool wait_for(std::size_t bytes, bool surely);

    BodyMemory* memory_;
    std::string principal_;
    std::uint32_t user_;
    Share* principal_share_ = nullptr;  // from its first byte on
    Share* user_share_ = nullptr;       // likewise
    std::size_t bytes_ = 0;
    bool has_precedence_ = false;
    std::chrono::steady_clock::duration waited_{0};
  };

  void change(const Limits& limits);
  /// From now on try_take_memory() waits no longer.
  void stop();

  /// Returns how many bytes are taken.
  [[nodiscard]] std::size_t bytes() const;
  /// Returns how many readers wait.
  [[nodiscard]] std::size_t waiting() const;

 private:
  struct WaitingReader {
    Claim& claim;
    std::size_t bytes;
    std::condition_variable woken = {};
    bool has_memory = false;
  };

  [[nodiscard]] bool fits(const Claim& claim, std::size_t bytes) const;
  void take(Claim& claim, std::size_t bytes) noexcept;
  void serve_queue() noexcept;
  void give_back(Claim& claim) noexcept;

  mutable std::mutex mutex_;  // guards what follows, and what a Claim knows of itself
  Limits limits_;
  std::size_t bytes_ = 0;
  std::map<std::string, Share> principals_;  // of claims that have begun
  std::map<std::uint32_t, Share> users_;     // likewise
  std::deque<WaitingReader*> queue_;         // the reader that has waited longest is in front
  bool has_preceding_claim_ = false;         // always, while the line is not empty
  bool stopping_ = false;
};

}  // namespace epsilog::serve
