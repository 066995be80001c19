// Credentials as text and as JSON.
#pragma once

#include <string>

#include "console.hpp"
#include "epsilog/engine/credentials.hpp"

namespace epsilog::command {

/// `now` says in which state it is.
[[nodiscard]] std::string credential_json(const std::string& ledger_id, const engine::Credential& credential,
                                          const std::string& now);
/// The same with the token.
[[nodiscard]] std::string issued_token_json(const std::string& ledger_id, const engine::IssuedToken& issued);
[[nodiscard]] std::string credentials_json(const std::string& ledger_id, const engine::CredentialBook& book,
                                           const std::string& now);
[[nodiscard]] std::string credentials_text(const engine::CredentialBook& book, const std::string& now,
                                           const Style& style);

}  // namespace epsilog::command
