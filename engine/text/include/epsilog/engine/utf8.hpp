// UTF-8, well formed as The Unicode Standard 15, table 3-7, has it: no overlong form, no surrogate, nothing above
// U+10FFFF. Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace epsilog::engine {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0: no code point is written there
};

/// The code point that is written from that byte on.
/// Requires  at < text.size().
[[nodiscard]] CodePoint code_point_at(std::string_view text, std::size_t at);

[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] bool is_ascii(std::string_view text);

}  // namespace epsilog::engine
