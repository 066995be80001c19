// Data tokens: 32 random bytes. A row has them and their SHA-256, or that alone; a line has the SHA-256.
//
// Two are compared by their hashes, so that how long it takes says nothing of the bytes.
// Thread-safety: pure functions, but for what is drawn.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// Of the operating system.
/// Throws  EntropyUnavailable.
[[nodiscard]] DataToken draw_token();
/// Of 64 lower-case hexadecimal digits; none of any other text.
[[nodiscard]] std::optional<DataToken> token_of_text(std::string_view text);

/// The two columns of a decision, each empty where it says nothing: the bytes, if this file has them, and
/// their SHA-256.
struct TokenColumns {
  std::string bytes = {};
  std::string sha256 = {};

  friend bool operator==(const TokenColumns&, const TokenColumns&) = default;
};

/// None where no token was issued.
/// Throws  LedgerCorrupt of another length, and of bytes that do not have the hash beside them.
[[nodiscard]] std::optional<DataToken> token_of(const TokenColumns& columns);
/// Of a token whose bytes or hash alone are known.
[[nodiscard]] TokenColumns columns_of(const std::optional<DataToken>& token);
/// Of a line, which has the hash alone, beside what may be its bytes: those are kept if they have that hash.
[[nodiscard]] TokenColumns columns_of(const DataToken::Bytes& sha256, const std::string& bytes);

}  // namespace epsilog::ledger
