// Why a message is not read on. Whoever sent it may mean another message than we would, so its connection
// ends.
#pragma once

#include <string_view>

namespace epsilog::serve {

/// Fixed texts: nothing that was sent is ever sent back.
struct MalformedRequest {
  int status = 400;
  std::string_view code;
  std::string_view message;

  friend bool operator==(const MalformedRequest&, const MalformedRequest&) = default;
};

/// 400, the status of whatever is against the grammar.
[[nodiscard]] constexpr MalformedRequest malformed(std::string_view message) {
  return {400, "malformed_request", message};
}

}  // namespace epsilog::serve
