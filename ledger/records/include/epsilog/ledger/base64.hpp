// Base 64 of RFC 4648, section 4, padded: the one spelling of its bytes. Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace epsilog::ledger {

[[nodiscard]] std::string base64_text(std::string_view bytes);
[[nodiscard]] std::string base64_text(std::span<const unsigned char> bytes);

/// None of any other text: one with blanks, without padding, or with bits left over that are not 0.
[[nodiscard]] std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace epsilog::ledger
