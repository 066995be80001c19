// Descriptors with an owner, and waiting for them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace epsilog::serve {

/// Closed when it goes.
class Descriptor final {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept;
  void close() noexcept;

 private:
  int fd_ = -1;
};

/// Rung once, and heard for ever by whoever waits for its descriptor. Thread-safety: all of it.
class Bell final {
 public:
  /// Throws  Error if there is no descriptor for it.
  Bell();
  void ring() noexcept;
  /// After it was rung: as if it had not been.
  void silence() noexcept;
  [[nodiscard]] bool rung() const noexcept { return rung_; }
  [[nodiscard]] int fd() const noexcept { return event_.get(); }

 private:
  Descriptor event_;
  std::atomic<bool> rung_ = false;
};

using Deadline = std::chrono::steady_clock::time_point;

[[nodiscard]] inline Deadline deadline_after(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

enum class IoOutcome : std::uint8_t {
  ready,    ///< bytes, or room for them
  ended,    ///< the other end sends no more
  gone,     ///< the connection is broken
  late,     ///< the deadline passed
  stopped,  ///< the bell was rung
};

/// Receives what is there, waiting for it until the deadline or the bell. What is there already is received
/// even if the bell was rung, but not after the deadline. Returns  ready with `received` > 0, or why nothing
/// was received.
[[nodiscard]] IoOutcome receive(int socket, std::span<char> into, std::size_t& received, Deadline due,
                                const Bell& stop);

/// Sends both parts, waiting for room until the deadline or the bell. Never raises SIGPIPE.
/// Returns  ready if everything was sent; otherwise some of it may have been.
[[nodiscard]] IoOutcome send_all(int socket, std::string_view first, std::string_view second, Deadline due,
                                 const Bell& stop);

/// Whether the other end of a Unix socket was closed. One that has only shut down its sending still receives.
[[nodiscard]] bool hung_up(int socket) noexcept;

/// Returns after that time, or earlier if the bell is rung or the other end of the socket is closed.
void pause(int socket, std::chrono::milliseconds time, const Bell& stop);

/// Sends what the socket takes without waiting; a new connection's takes some hundred kilobytes. Never raises
/// SIGPIPE.
void send_at_once(int socket, std::string_view text) noexcept;

}  // namespace epsilog::serve
