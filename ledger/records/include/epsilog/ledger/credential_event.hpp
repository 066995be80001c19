// The credentials of a ledger: by what a program that asks in the name of others knows whom it asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epsilog::ledger {

/// Who may call himself whom, from then on or no more.
struct CredentialEvent {
  std::int64_t seq = 0;    ///< 1, 2, ...
  bool revoked = false;    ///< else added
  std::string credential;  ///< its id, never used again
  std::string type;        ///< "uid", "token"
  std::string principal;
  /// Of a uid, its number; of a token, the SHA-256 in lower-case hexadecimal; "" if revoked.
  std::string value = {};
  std::string until = {};  ///< ledger time; "" = no end
  std::string at;
  std::string by;
  std::string why = {};

  friend bool operator==(const CredentialEvent&, const CredentialEvent&) = default;
};

/// Whether credentials of that type have such a value: of "uid" a number below 2^32 in digits, of "token" a
/// SHA-256; of no other type any.
/// Thread-safety: pure function.
[[nodiscard]] bool is_credential_value(std::string_view type, std::string_view value);

}  // namespace epsilog::ledger
