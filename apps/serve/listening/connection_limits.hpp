// How many connections there may be, and how long each may take.
#pragma once

#include <chrono>
#include <cstddef>

namespace epsilog::serve {

/// Requires  all above zero.
struct ConnectionLimits {
  std::size_t connections = 1024;              ///< on the sockets that are not the curator's
  std::size_t per_uid = 256;                   ///< of those
  std::size_t uid_arrivals_per_second = 1024;  ///< new ones of one uid in a second, in the long run
  std::size_t uid_arrivals_burst = 1024;       ///< and at once
  std::size_t curator_connections = 64;
  /// Each in total, however often something arrives meanwhile.
  std::chrono::milliseconds head{5000};   ///< from its first byte to its last
  std::chrono::milliseconds body{10000};  ///< from the end of the head
  std::chrono::milliseconds idle{60000};  ///< before the first byte of a head
  std::chrono::milliseconds write{10000};
  std::size_t head_bytes = 16384;
  /// How long what a refused request still sends is thrown away, so that its answer is read before a reset.
  std::chrono::milliseconds linger{1000};
};

}  // namespace epsilog::serve
