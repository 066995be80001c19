// How many connections there are, and of whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "limits.hpp"
#include "service.hpp"

namespace epsilog::serve {

/// Places of connections. Thread-safety: none of its own.
class Places final {
 public:
  /// Returns  whether there is one for that peer, which has it then.
  [[nodiscard]] bool take(const Peer& peer, const Limits& limits);
  /// Requires  one that was taken.
  void give_back(const Peer& peer);

 private:
  std::size_t ordinary_ = 0;
  std::size_t curators_ = 0;
  std::map<std::uint32_t, std::size_t> of_uid_;  ///< ordinary ones; nobody with none
};

}  // namespace epsilog::serve
