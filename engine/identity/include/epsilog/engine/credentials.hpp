// Credentials: by what a program that asks in the name of others knows whom it asks for. They are records of
// the ledger like any other, with who and why; a token itself is nowhere, only its SHA-256.
//
//   eps_ID_SECRET     SECRET: 52 characters that are 256 random bits, 6 that check ID and those
//
// Times are ledger times (epsilog/ledger/ledger_time.hpp). A credential that ends `until` a time is valid
// before it, and no more at it. docs/identity.md says what credentials are and are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {

/// One that was added, valid or not.
struct Credential {
  enum class Type { uid, token };
  std::string id;
  Type type = Type::token;
  std::string principal;
  std::string value;  ///< the uid in digits; the SHA-256 of the token in hexadecimal digits
  std::string until;  ///< "": no end
  std::string at, by, why;
  std::string revoked_at, revoked_by, revoked_why;  ///< "" unless revoked

  friend bool operator==(const Credential&, const Credential&) = default;
};
/// "uid", "token".
[[nodiscard]] std::string_view name(Credential::Type type);

enum class CredentialState { valid, expired, revoked };
[[nodiscard]] std::string_view name(CredentialState state);
[[nodiscard]] CredentialState state_of(const Credential& credential, std::string_view now);

/// Whom a credential is of. Whether the policy still declares that principal is for the caller to see.
struct CredentialOwner {
  std::string principal;
  std::string credential;  ///< its id

  friend bool operator==(const CredentialOwner&, const CredentialOwner&) = default;
};

/// All credentials of a ledger, as one view of it shows them.
/// Thread-safety: immutable value; may be read by all.
class CredentialBook final {
 public:
  CredentialBook() = default;
  /// What cannot be (each_unfounded_credential()) is never valid.
  /// Throws  as Snapshot::each_credential_event.
  [[nodiscard]] static CredentialBook of(ledger::Snapshot& view);
  /// As of the transaction's turn.
  [[nodiscard]] static CredentialBook of(ledger::Transaction& transaction);

  /// Of a valid credential of that uid: the overflow uid 65534 and 4294967295 are nobody's.
  [[nodiscard]] std::optional<CredentialOwner> by_uid(std::uint32_t uid, std::string_view now) const;
  /// Of a valid credential whose token that is. A text that is no token is known as one without any look-up;
  /// how far another one is from a token of this ledger does not decide how long this takes.
  [[nodiscard]] std::optional<CredentialOwner> by_token(std::string_view text, std::string_view now) const;
  /// nullptr when there never was one.
  [[nodiscard]] const Credential* find(std::string_view id) const;
  /// Every credential, in the order in which they were added.
  [[nodiscard]] const std::vector<Credential>& list() const& noexcept { return list_; }
  /// Of a book that nobody keeps: `for (… : CredentialBook::of(view).list())` would read freed memory otherwise.
  [[nodiscard]] std::vector<Credential> list() && { return std::move(list_); }

 private:
  void add(const ledger::CredentialEvent& event);

  std::vector<Credential> list_;
  std::map<std::string, std::size_t, std::less<>> by_id_;      // places in list_
  std::multimap<std::string, std::size_t, std::less<>> uids_;  // by value
};

/// Whether it has the form of a token, its checksum included.
/// Thread-safety: pure function.
[[nodiscard]] bool is_token_text(std::string_view text);

/// A token as its owner gets it. It is gone when this is.
class TokenText final {
 public:
  explicit TokenText(std::string text);
  TokenText(TokenText&&) noexcept;
  TokenText& operator=(TokenText&&) = delete;
  ~TokenText();
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

struct NewCredential {
  std::string principal;   ///< one whom the active policy declares
  std::string id = {};     ///< 1 to 64 letters, digits and '-', the first no '-'; "": one is made up
  std::string until = {};  ///< ledger time; "": no end
  std::string by;          ///< who says so, not empty
  std::string why;         ///< not empty
};

struct IssuedToken {
  Credential credential;
  TokenText token;  ///< there is no other copy
};

// Each records one event, durable when it returns.
// Throws  NotFound for a principal whom the active policy does not declare, and for an id that is none;
//         InvalidParameter for what else NewCredential and the names say, for an id that was used before, and
//         for a time that has passed; as Ledger::begin and commit. Nothing was recorded then.

/// Whoever has that uid is called so from now on.
/// Throws  InvalidParameter also for a uid that is nobody's, or that a valid credential maps.
Credential add_uid(ledger::Ledger& ledger, const NewCredential& wanted, std::uint32_t uid);
/// Whoever shows the token is called so from now on.
/// Throws  EntropyUnavailable as well.
IssuedToken new_token(ledger::Ledger& ledger, const NewCredential& wanted);
/// Never valid again; one that has expired may be revoked.
/// Throws  InvalidParameter also for one that was revoked before.
Credential revoke_credential(ledger::Ledger& ledger, const std::string& id, const std::string& by,
                             const std::string& why);

/// Tells of each of these records that cannot be: its number, and why.
void each_unfounded_credential(ledger::Snapshot& ledger,
                               const std::function<void(std::int64_t seq, const std::string& why)>& tell);

}  // namespace epsilog::engine
