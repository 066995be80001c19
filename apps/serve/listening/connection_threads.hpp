// The threads of the connections of a server, each accounted for until it has ended.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "connection.hpp"
#include "connection_slots.hpp"
#include "descriptor.hpp"

namespace epsilog::serve {

/// Thread-safety  all of it.
class ConnectionThreads final {
 public:
  /// Requires  `shared` outlives it.
  /// Throws    Error if there is no descriptor left.
  explicit ConnectionThreads(const ConnectionContext& shared) : shared_(shared) {}
  ConnectionThreads(const ConnectionThreads&) = delete;
  ConnectionThreads& operator=(const ConnectionThreads&) = delete;
  ~ConnectionThreads();

  /// Serves the connection in a thread of its own.
  /// Returns  refused or dropped, and leaves the socket to the caller, if there is no place or no thread for
  /// it.
  [[nodiscard]] SlotOutcome start(Descriptor& socket, const Peer& peer);

  /// Frees what threads that have ended left behind.
  void reap();
  /// Rung when a thread ends.
  [[nodiscard]] const Bell& ended() const { return ended_; }

  /// Returns  whether none was left before the deadline.
  bool wait_for_all(Deadline due);

 private:
  struct Job;
  static void* run(void* job);
  void finish(const Peer& peer) noexcept;

  const ConnectionContext& shared_;
  Bell ended_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  ConnectionSlots slots_;
  std::size_t running_ = 0;
  std::vector<pthread_t> finished_;  ///< to be joined; has room for all that run
};

}  // namespace epsilog::serve
