// SHA-256 (FIPS 180-4) of this library. Thread-safe.
//
// By nettle, which takes the instructions that processors have for it; libsodium's is portable C, six times
// as slow, and a fifth of what the check of a long history takes would be that.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace epsilog::ledger {

[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::string_view bytes);
/// Of the parts one behind the other.
[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::initializer_list<std::string_view> parts);

}  // namespace epsilog::ledger
