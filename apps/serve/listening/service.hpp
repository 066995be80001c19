// Who answers the requests that a Server takes in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

#include "message.hpp"

namespace epsilog::serve {

/// The process at the other end, as the kernel says.
struct Peer {
  std::uint32_t uid = 0;  ///< effective when it connected (SO_PEERCRED)
  bool curator = false;   ///< whether it came by the curator's socket
  int socket =
      -1;  ///< of the connection, for poll(2) alone: it hangs up when the other end is closed; -1: none
};

/// Why a body will never be whole.
class BodyFault final : public std::exception {
 public:
  enum class Kind : std::uint8_t {
    too_slow,    ///< not there within Limits::body
    broken_off,  ///< the other end is gone, or sends no more
    stopped,     ///< the server stops: none of it was there yet, or the time to drain is over
  };
  explicit BodyFault(Kind kind) : kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const char* what() const noexcept override;

 private:
  Kind kind_;
};

/// The body of one request, while it is answered. Thread-safety: for the thread that answers.
class Body {
 public:
  Body() = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  virtual ~Body() = default;

  /// The next bytes, at least one; 0 at the end of the body. Waits for them.
  /// Requires  room for one.
  /// Throws    BodyFault, and the same one again whenever it is called afterwards.
  virtual std::size_t read(std::span<char> into) = 0;

  /// Whether there is a first byte, which it waits for; false: the body is empty. Once true, always true.
  /// Throws  BodyFault, if no byte ever arrived.
  virtual bool wait_for_first_byte() = 0;

  /// Whether the other end is gone, so that nobody hears the answer. One that only sends no more is there.
  /// Does not wait.
  [[nodiscard]] virtual bool gone() const { return false; }
  /// Whether the server stops: what changes nothing is to end.
  [[nodiscard]] virtual bool stopping() const { return false; }

  /// Gives the sender so much more time: it was not read from for so long.
  virtual void extend(std::chrono::steady_clock::duration time) { static_cast<void>(time); }
};

class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  /// Called by the connection's thread, by several at once, whether or not the other end is still there. A
  /// body that is not read to its end ends the connection. What it throws ends the connection without an
  /// answer.
  virtual Response answer(const RequestHead& head, const Peer& peer, Body& body) = 0;

  /// What the listener refuses by itself, as it is told; the connection ends with it. Called by several at
  /// once, and by the thread that accepts: it waits for nothing.
  virtual Response problem_response(int status, std::string_view code, std::string_view message) = 0;
};

}  // namespace epsilog::serve
