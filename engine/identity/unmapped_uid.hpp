// The uids that say nothing of who somebody is.
#pragma once

#include <cstdint>

namespace epsilog::engine {

/// 65534 stands for every uid that is not mapped into a user namespace, 4294967295 for none.
[[nodiscard]] constexpr bool is_unmapped_uid(std::uint32_t uid) {
  return uid == 65534 || uid == UINT32_MAX;
}

}  // namespace epsilog::engine
