#include "credential_audit.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kUid = "unix:";
constexpr std::string_view kToken = "token:";

std::string via_of(const Credential& credential) {
  return credential.type == Credential::Type::uid ? std::string(kUid) + credential.value
                                                  : std::string(kToken) + credential.id;
}

/// "" while it stands. Whoever was revoked within the millisecond may have asked before.
std::string ended_before(const Credential& credential, const std::string& at) {
  std::string ended;
  if (!credential.until.empty() && credential.until <= at) ended = credential.until;
  if (!credential.revoked_at.empty() && credential.revoked_at < at) {
    ended = ended.empty() ? credential.revoked_at : std::min(ended, credential.revoked_at);
  }
  return ended;
}

std::int64_t late_ms(const EndedCredential& one) {
  return ledger::parse_time(one.at) - ledger::parse_time(one.ended);
}

}  // namespace

void CredentialAudit::credentials(const std::vector<Credential>& all, std::string since) {
  since_ = std::move(since);
  for (const Credential& credential : all) known_[via_of(credential)].push_back(credential);
}

bool CredentialAudit::has_credential_of(const ledger::StoredDecision& stored) const {
  const auto found = known_.find(stored.via);
  return found != known_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&stored](const Credential& credential) {
           return credential.principal == stored.draft.principal && credential.at <= stored.created_at;
         });
}

void CredentialAudit::decision(const ledger::StoredDecision& stored) {
  if (!stored.via.starts_with(kUid) && !stored.via.starts_with(kToken)) return;
  // Before, a program that asks in the name of others knew them by means of its own.
  if (since_.empty() || stored.created_at <= since_) return;
  const auto found = known_.find(stored.via);
  const Credential* of_another = nullptr;
  std::string ended;
  bool theirs = false;
  if (found != known_.end()) {
    for (const Credential& credential : found->second) {
      if (credential.at > stored.created_at) continue;
      if (credential.principal != stored.draft.principal) {
        of_another = &credential;
        continue;
      }
      theirs = true;
      const std::string end = ended_before(credential, stored.created_at);
      if (end.empty()) return;
      ended = std::max(ended, end);
    }
  }
  if (theirs) return note_ended(stored, ended);
  fault(stored, of_another == nullptr ? "the ledger had no such credential then"
                                      : "that was a credential of '" + of_another->principal +
                                            "' then, credential " + of_another->id);
}

void CredentialAudit::fault(const ledger::StoredDecision& stored, std::string message) {
  faults_.push_back(
      {stored.id, "via_unfounded",
       "is in the name of '" + stored.draft.principal + "' via " + stored.via + ": " + std::move(message)});
}

void CredentialAudit::note_ended(const ledger::StoredDecision& stored, const std::string& ended) {
  ++ended_count_;
  EndedCredential one{stored.id, stored.draft.principal, stored.via, stored.created_at, ended};
  const auto place =
      std::upper_bound(longest_.begin(), longest_.end(), late_ms(one),
                       [](std::int64_t late, const EndedCredential& other) { return late > late_ms(other); });
  longest_.insert(place, std::move(one));
  if (longest_.size() > kEndedCredentialsListed) longest_.pop_back();
}

}  // namespace epsilog::engine
