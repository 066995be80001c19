// Adding and revoking credentials.
#include <sodium.h>
#include <sys/random.h>

#include <cerrno>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/nearest.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/utf8.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "token_text.hpp"
#include "unmapped_uid.hpp"

namespace epsilog::engine {
namespace {

void fill_with_randomness(unsigned char* bytes, std::size_t size) {
  // libsodium would end the process where there is none.
  ssize_t had = 0;
  do {
    had = getrandom(bytes, size, 0);
  } while (had < 0 && errno == EINTR);
  if (had != static_cast<ssize_t>(size)) {
    throw EntropyUnavailable("the operating system gave no randomness for a credential");
  }
}

/// An id that nobody chose, of 50 random bits.
std::string made_up_id() {
  constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
  std::array<unsigned char, 10> bytes{};
  fill_with_randomness(bytes.data(), bytes.size());
  std::string id;
  for (const unsigned char byte : bytes) id += kDigits.at(byte & 31U);
  return id;
}

void require_by_and_why(const std::string& text, const char* what, const char* missing) {
  if (text.empty()) throw InvalidParameter(std::string(what) + ": " + missing);
  if (!is_utf8(text)) throw InvalidParameter(std::string(what) + ": is not UTF-8");
}

void require_declared(const std::string& principal, const ledger::PolicyVersion& active) {
  const Policy policy = Policy::parse_stored(active.yaml, "the active policy");
  if (!policy.principals()) {
    throw InvalidParameter("principal: the active policy declares no principals; add them to it first");
  }
  if (policy.principal(principal) != nullptr) return;
  std::vector<std::string> names;
  for (const Principal& declared : *policy.principals()) names.push_back(declared.name);
  const std::string near = nearest(principal, names);
  throw NotFound("principal '" + principal + "' is not declared in the active policy." +
                 (near.empty() ? "" : " Did you mean '" + near + "'?"));
}

/// What is wrong with the wish itself, whatever the ledger says.
void require_sound(const NewCredential& wanted) {
  require_by_and_why(wanted.by, "by", "who says so is not named");
  require_by_and_why(wanted.why, "why", "a reason is needed, which is kept with it");
  if (!wanted.id.empty() && !is_credential_id(wanted.id)) {
    throw InvalidParameter("id: use 1 to 64 letters, digits and '-', the first no '-'");
  }
  if (!wanted.until.empty() && !ledger::is_time(wanted.until)) {
    throw InvalidParameter("until: '" + wanted.until + "' is no ledger time");
  }
}

/// What is wrong with it in this ledger, now.
void require_possible(const NewCredential& wanted, ledger::Transaction& transaction,
                      const CredentialBook& book) {
  require_declared(wanted.principal, transaction.active_policy());
  if (book.find(wanted.id) != nullptr) {
    throw InvalidParameter("id: '" + wanted.id + "' is one of this ledger, and no id is used again");
  }
  const std::string now = transaction.now();
  if (!wanted.until.empty() && wanted.until <= now) {
    throw InvalidParameter("until: " + wanted.until + " has passed; it is " + now);
  }
}

Credential record_event(ledger::Ledger& ledger, ledger::Transaction transaction,
                        const ledger::CredentialEvent& event) {
  transaction.record_credential(event);
  Credential credential = CredentialBook::of(transaction).list().back();
  static_cast<void>(ledger.commit(std::move(transaction)));
  return credential;
}

ledger::CredentialEvent added_event(const NewCredential& wanted, const std::string& id, Credential::Type type,
                                    std::string value) {
  return {.seq = 0,
          .revoked = false,
          .credential = id,
          .type = std::string(name(type)),
          .principal = wanted.principal,
          .value = std::move(value),
          .until = wanted.until,
          .at = {},
          .by = wanted.by,
          .why = wanted.why};
}

}  // namespace

TokenText::TokenText(std::string text) : text_(std::move(text)) {}
TokenText::TokenText(TokenText&& other) noexcept : text_(std::move(other.text_)) {}
TokenText::~TokenText() {
  sodium_memzero(text_.data(), text_.size());
}

Credential add_uid(ledger::Ledger& ledger, const NewCredential& wanted, std::uint32_t uid) {
  require_sound(wanted);
  if (is_unmapped_uid(uid)) {
    throw InvalidParameter("uid: " + std::to_string(uid) + " stands for uids that are not known");
  }
  ledger::Transaction transaction = ledger.begin();
  const CredentialBook book = CredentialBook::of(transaction);
  require_possible(wanted, transaction, book);
  if (const auto mapped = book.by_uid(uid, transaction.now())) {
    throw InvalidParameter("uid: " + std::to_string(uid) + " is '" + mapped->principal + "' by credential " +
                           mapped->credential + "; revoke that first");
  }
  const std::string id = wanted.id.empty() ? made_up_id() : wanted.id;
  return record_event(ledger, std::move(transaction),
                      added_event(wanted, id, Credential::Type::uid, std::to_string(uid)));
}

IssuedToken new_token(ledger::Ledger& ledger, const NewCredential& wanted) {
  require_sound(wanted);
  const std::string id = wanted.id.empty() ? made_up_id() : wanted.id;
  TokenSecret secret{};
  fill_with_randomness(secret.data(), secret.size());
  TokenText token(token_text(id, secret));
  sodium_memzero(secret.data(), secret.size());
  ledger::Transaction transaction = ledger.begin();
  require_possible(wanted, transaction, CredentialBook::of(transaction));
  return {.credential = record_event(
              ledger, std::move(transaction),
              added_event(wanted, id, Credential::Type::token, ledger::sha256_hex(token.text()))),
          .token = std::move(token)};
}

Credential revoke_credential(ledger::Ledger& ledger, const std::string& id, const std::string& by,
                             const std::string& why) {
  require_by_and_why(by, "by", "who says so is not named");
  require_by_and_why(why, "why", "a reason is needed, which is kept with it");
  ledger::Transaction transaction = ledger.begin();
  const CredentialBook book = CredentialBook::of(transaction);
  const Credential* known = book.find(id);
  if (known == nullptr) {
    std::vector<std::string> ids;
    for (const Credential& credential : book.list()) ids.push_back(credential.id);
    const std::string near = nearest(id, ids);
    throw NotFound("no credential '" + id + "' in this ledger." +
                   (near.empty() ? "" : " Did you mean '" + near + "'?"));
  }
  if (!known->revoked_at.empty()) {
    throw InvalidParameter("credential " + id + " was revoked at " + known->revoked_at + " by '" +
                           known->revoked_by + "'");
  }
  Credential revoked = *known;
  revoked.revoked_at = transaction.now();
  revoked.revoked_by = by;
  revoked.revoked_why = why;
  transaction.record_credential({.revoked = true,
                                 .credential = id,
                                 .type = std::string(name(known->type)),
                                 .principal = known->principal,
                                 .at = {},
                                 .by = by,
                                 .why = why});
  static_cast<void>(ledger.commit(std::move(transaction)));
  return revoked;
}

}  // namespace epsilog::engine
