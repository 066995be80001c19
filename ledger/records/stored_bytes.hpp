// Times, digests and identifiers as the ledger's file stores them.
//
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "canonical_tokens.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::ledger {

/// Milliseconds since 1970; 0 of "".
/// Throws  LedgerCorrupt of what is no time.
[[nodiscard]] inline std::int64_t stored_time(const std::string& text) {
  return text.empty() ? 0 : parse_time(text);
}

/// Yes and no are 1 and 0.
/// Throws  LedgerCorrupt naming `what` of another number.
[[nodiscard]] inline bool stored_truth(std::int64_t number, const char* what) {
  if (number == 0 || number == 1) return number == 1;
  throw LedgerCorrupt(std::string(what) + ": is neither 0 nor 1");
}
/// Throws  LedgerCorrupt naming `what` unless there are so many.
template <std::size_t Size>
[[nodiscard]] std::array<std::uint8_t, Size> sized_bytes(const std::string& bytes, const char* what) {
  if (bytes.size() != Size) {
    throw LedgerCorrupt(std::string(what) + " has " + std::to_string(bytes.size()) + " bytes, not " +
                        std::to_string(Size));
  }
  std::array<std::uint8_t, Size> sized{};
  std::copy(bytes.begin(), bytes.end(), sized.begin());
  return sized;
}

/// hex_text() of what SQLite gives.
[[nodiscard]] inline std::string hex_text(std::string_view bytes) {
  return hex_text(std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}
/// Throws  LedgerCorrupt naming `what` unless they are so many bytes.
template <std::size_t Size>
[[nodiscard]] std::array<std::uint8_t, Size> bytes_of_hex(std::string_view hex, const char* what) {
  std::array<std::uint8_t, Size> bytes{};
  if (hex.size() == 2 * Size && read_hex(hex, bytes.data())) return bytes;
  throw LedgerCorrupt(std::string(what) + " is not " + std::to_string(2 * Size) +
                      " lower-case hexadecimal digits");
}

}  // namespace epsilog::ledger
