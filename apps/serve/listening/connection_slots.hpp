// How many connections there are, and of whom.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include "connection_limits.hpp"
#include "service.hpp"

namespace epsilog::serve {

enum class SlotOutcome : std::uint8_t {
  taken,    ///< has a place
  refused,  ///< has none, and is told so
  dropped,  ///< has none, and is not told any more: its user comes too often
};

/// Places of connections. A place is refused to a user who has all of theirs, or comes too fast: a connection
/// costs a thread, also one that is closed again at once. Thread-safety: none of its own.
class ConnectionSlots final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Requires  `now` does not run back.
  [[nodiscard]] SlotOutcome take(const Peer& peer, const ConnectionLimits& limits, Time now);
  /// Requires  one that was taken.
  void give_back(const Peer& peer);

 private:
  struct User {
    std::size_t connections = 0;
    double allowed_arrivals = 0;   // that may still come at once
    double sendable_refusals = 0;  // refusals that are told
    Time filled_at{};
  };

  User& user(std::uint32_t uid, const ConnectionLimits& limits, Time now);

  std::size_t ordinary_ = 0;
  std::size_t curators_ = 0;
  std::map<std::uint32_t, User> users_;  ///< of ordinary ones
};

}  // namespace epsilog::serve
