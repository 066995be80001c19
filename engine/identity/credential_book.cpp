#include <sodium.h>

#include <utility>

#include "epsilog/engine/credentials.hpp"
#include "epsilog/ledger/digest.hpp"
#include "token_text.hpp"
#include "unmapped_uid.hpp"

namespace epsilog::engine {
namespace {

/// Throws  InvalidParameter unless such a credential can be added.
void require_addable(const ledger::CredentialEvent& event) {
  if (event.principal.empty()) throw InvalidParameter("is nobody's");
  if (!ledger::is_credential_value(event.type, event.value)) {
    throw InvalidParameter("is neither a uid nor the SHA-256 of a token");
  }
  if (!event.until.empty() && event.until <= event.at) throw InvalidParameter("ended before it was added");
}

}  // namespace

std::string_view name(Credential::Type type) {
  return type == Credential::Type::uid ? "uid" : "token";
}

std::string_view name(CredentialState state) {
  switch (state) {
    case CredentialState::valid:
      return "valid";
    case CredentialState::expired:
      return "expired";
    case CredentialState::revoked:
      return "revoked";
  }
  EPSILOG_INVARIANT(false);
}

CredentialState state_of(const Credential& credential, std::string_view now) {
  if (!credential.revoked_at.empty()) return CredentialState::revoked;
  return credential.until.empty() || now < credential.until ? CredentialState::valid
                                                            : CredentialState::expired;
}

CredentialBook CredentialBook::of(ledger::Snapshot& view) {
  CredentialBook book;
  view.each_credential_event([&book](const ledger::CredentialEvent& event) { book.add(event); });
  return book;
}

CredentialBook CredentialBook::of(ledger::Transaction& transaction) {
  CredentialBook book;
  transaction.each_credential_event([&book](const ledger::CredentialEvent& event) { book.add(event); });
  return book;
}

void CredentialBook::add(const ledger::CredentialEvent& event) {
  const auto known = by_id_.find(event.credential);
  if (event.revoked) {
    if (known == by_id_.end()) return;
    Credential& revoked = list_.at(known->second);
    if (!revoked.revoked_at.empty()) return;
    revoked.revoked_at = event.at;
    revoked.revoked_by = event.by;
    revoked.revoked_why = event.why;
    return;
  }
  if (known != by_id_.end()) return;
  try {
    require_addable(event);
  } catch (const InvalidParameter&) {
    return;
  }
  by_id_.emplace(event.credential, list_.size());
  if (event.type == "uid") uids_.emplace(event.value, list_.size());
  list_.push_back({.id = event.credential,
                   .type = event.type == "uid" ? Credential::Type::uid : Credential::Type::token,
                   .principal = event.principal,
                   .value = event.value,
                   .until = event.until,
                   .at = event.at,
                   .by = event.by,
                   .why = event.why,
                   .revoked_at = {},
                   .revoked_by = {},
                   .revoked_why = {}});
}

std::optional<CredentialOwner> CredentialBook::by_uid(std::uint32_t uid, std::string_view now) const {
  if (is_unmapped_uid(uid)) return std::nullopt;
  const auto [begin, end] = uids_.equal_range(std::to_string(uid));
  for (auto place = begin; place != end; ++place) {
    const Credential& credential = list_.at(place->second);
    if (state_of(credential, now) == CredentialState::valid) {
      return CredentialOwner{credential.principal, credential.id};
    }
  }
  return std::nullopt;
}

std::optional<CredentialOwner> CredentialBook::by_token(std::string_view text, std::string_view now) const {
  const auto id = credential_in(text);
  if (!id) return std::nullopt;
  const Credential* credential = find(*id);
  if (credential == nullptr || credential->type != Credential::Type::token ||
      state_of(*credential, now) != CredentialState::valid) {
    return std::nullopt;
  }
  const std::string shown = ledger::sha256_hex(text);
  if (shown.size() != credential->value.size() ||
      sodium_memcmp(shown.data(), credential->value.data(), shown.size()) != 0) {
    return std::nullopt;
  }
  return CredentialOwner{credential->principal, credential->id};
}

const Credential* CredentialBook::find(std::string_view id) const {
  const auto place = by_id_.find(id);
  return place == by_id_.end() ? nullptr : &list_.at(place->second);
}

bool is_token_text(std::string_view text) {
  return credential_in(text).has_value();
}

void each_unfounded_credential(ledger::Snapshot& ledger,
                               const std::function<void(std::int64_t seq, const std::string& why)>& tell) {
  struct CredentialStatus {
    std::string principal, type;
    bool revoked = false;
  };
  std::map<std::string, CredentialStatus> known;
  ledger.each_credential_event([&](const ledger::CredentialEvent& event) {
    const auto place = known.find(event.credential);
    if (event.revoked) {
      if (!event.value.empty() || !event.until.empty()) tell(event.seq, "is revoked, with a value or an end");
      const bool valid = place != known.end() && !place->second.revoked &&
                         place->second.principal == event.principal && place->second.type == event.type;
      if (!valid) tell(event.seq, "revokes a credential that is not one of this ledger then");
      if (place != known.end()) place->second.revoked = true;
      return;
    }
    try {
      require_addable(event);
    } catch (const InvalidParameter& error) {
      tell(event.seq, error.what());
    }
    if (place != known.end()) tell(event.seq, "uses the id of another credential again");
    known.emplace(event.credential, CredentialStatus{event.principal, event.type, false});
  });
}

}  // namespace epsilog::engine
