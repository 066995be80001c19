// Whether a decision can have come by the credential that its `via` names: docs/identity.md, "What an auditor
// sees".
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "epsilog/engine/audit_fault.hpp"
#include "epsilog/engine/audit_report.hpp"
#include "epsilog/engine/credentials.hpp"

namespace epsilog::engine {

/// What it keeps grows with credentials alone: a decision is one look-up of its `via` as it stands.
class CredentialAudit final {
 public:
  /// Requires  `faults` outlives it.
  explicit CredentialAudit(std::vector<AuditFault>& faults) : faults_(faults) {}

  /// All of the ledger, and when the first was recorded. Without this call nothing is judged.
  void credentials(const std::vector<Credential>& all, std::string since);
  /// A decision that somebody asked for. Of one of a ledger that had a credential before it a fault, if no
  /// credential of that `via` was the principal's then. One that had ended is counted: what was admitted
  /// before may be recorded after.
  void decision(const ledger::StoredDecision& stored);

  /// Whether a credential of that `via` was the principal's, added by the time of the decision.
  [[nodiscard]] bool has_credential_of(const ledger::StoredDecision& stored) const;

  [[nodiscard]] std::int64_t ended_count() const noexcept { return ended_count_; }
  /// Of these the ones that came longest after the end, longest first; at most kEndedCredentialsListed.
  [[nodiscard]] const std::vector<EndedCredential>& longest() const noexcept { return longest_; }

 private:
  void fault(const ledger::StoredDecision& stored, std::string message);
  void note_ended(const ledger::StoredDecision& stored, const std::string& ended);

  std::vector<AuditFault>& faults_;
  std::string since_;
  std::unordered_map<std::string, std::vector<Credential>> known_;  // by the `via` that names them
  std::int64_t ended_count_ = 0;
  std::vector<EndedCredential> longest_;
};

}  // namespace epsilog::engine
