// One connection: its requests, one after the other, until one side has enough.
#pragma once

#include <mutex>
#include <optional>
#include <string_view>

#include "connection_limits.hpp"
#include "descriptor.hpp"
#include "inbox.hpp"
#include "request_reader.hpp"
#include "service.hpp"

namespace epsilog::serve {

/// Limits that may change while connections are served. Thread-safety: all of it.
class CurrentLimits final {
 public:
  explicit CurrentLimits(const ConnectionLimits& limits) : limits_(limits) {}
  [[nodiscard]] ConnectionLimits get() const {
    const std::lock_guard lock(mutex_);
    return limits_;
  }
  void set(const ConnectionLimits& limits) {
    const std::lock_guard lock(mutex_);
    limits_ = limits;
  }

 private:
  mutable std::mutex mutex_;
  ConnectionLimits limits_;
};

/// What all connections of a server share; outlives them.
struct ConnectionContext {
  Service& service;
  const CurrentLimits& limits;
  const Bell& stopping;   ///< no further request is begun
  const Bell& abandoned;  ///< nothing more is waited for
};

class Connection final {
 public:
  Connection(int socket, const Peer& peer, const ConnectionContext& shared)
      : socket_(socket), peer_(peer), shared_(shared), inbox_(socket) {
    peer_.socket = socket;
  }

  /// Answers requests in the order in which they come, also those sent before the one before was answered,
  /// until: the other end is gone or sends no more; a request or an answer says that it is the last; one is
  /// refused, comes too slowly or is not read to its end; nothing comes for too long; the server stops. What
  /// is refused is answered by `Service::problem_response`: malformed heads, one that is late (408 head_too_slow),
  /// that breaks off (400 head_broken_off), or that comes while the server stops (503 stopping).
  void serve();

 private:
  /// Reads a head. Returns  whether there is one to be answered.
  bool await_head();
  /// Returns  whether another request may follow.
  bool answer_one();
  bool send(std::string_view head, std::string_view body);
  void refuse_incomplete_head(IoOutcome came);
  void refuse(int status, std::string_view code, std::string_view message);
  /// Throws away what still comes, for a while, so that the answer is not lost to a reset.
  void linger();

  int socket_;
  Peer peer_;
  const ConnectionContext& shared_;
  ConnectionLimits limits_;  ///< those of the present request
  Inbox inbox_;
  std::optional<RequestReader> reader_;  ///< of the present request; none before its first byte
};

}  // namespace epsilog::serve
