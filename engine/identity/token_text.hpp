// The text of a token: eps_ID_SECRET, of which the last 6 characters check the rest, so that one that was
// cut short or mistyped is no token at all.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace epsilog::engine {

using TokenSecret = std::array<unsigned char, 32>;

/// 1 to 64 letters, digits and '-', the first no '-'. No '_', which ends it in a token.
[[nodiscard]] bool is_credential_id(std::string_view text);

/// Ensures  another id or secret makes another text; credential_in() finds the id in it.
[[nodiscard]] std::string token_text(std::string_view id, const TokenSecret& secret);

/// The id in a token; nothing if it is none. Says nothing of whether there is such a credential.
[[nodiscard]] std::optional<std::string_view> credential_in(std::string_view token);

}  // namespace epsilog::engine
