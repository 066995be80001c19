// The one digest the ledger and whoever fills it agree on.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace epsilog::ledger {

/// SHA-256 (FIPS 180-4) in lower-case hexadecimal, 64 characters.
/// Thread-safety: pure function.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// Lower-case hexadecimal digits, two a byte.
/// Thread-safety: pure function.
[[nodiscard]] std::string hex_text(std::span<const unsigned char> bytes);

}  // namespace epsilog::ledger
