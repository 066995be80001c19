// Data tokens: 32 random bytes that a row has, and a line the SHA-256 of.
//
// Two are compared by their hashes, so that how long it takes says nothing of the bytes.
// Thread-safety: pure functions, but for what is drawn.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// Of the operating system. Throws  EntropyUnavailable.
[[nodiscard]] DataToken drawn_token();
/// Of 64 lower-case hexadecimal digits; none of any other text.
[[nodiscard]] std::optional<DataToken> token_of_text(std::string_view text);

/// What the column of a decision says, none where it is empty. The hash alone is there if `lines_only`: the
/// ledger was made of lines. Throws  LedgerCorrupt of another length.
[[nodiscard]] std::optional<DataToken> token_of_column(const std::string& column, bool lines_only);
/// The column of one that was drawn, "" of none.
[[nodiscard]] std::string column_of(const std::optional<DataToken>& token);

}  // namespace epsilog::ledger
