// Re-derives the whole history from policies and charges, and names what does not agree.
//
// Nothing stored is trusted that can be computed: balances are the sum of charges, limits come from
// the policy versions, outcomes from deciding again, values from the components.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "asker_windows.hpp"
#include "audit_balances.hpp"
#include "audit_calendar.hpp"
#include "audit_requests.hpp"
#include "bound_keys.hpp"
#include "credential_audit.hpp"
#include "decide.hpp"
#include "epsilog/engine/audit_fault.hpp"
#include "epsilog/engine/policy.hpp"
#include "plan_cache.hpp"
#include "stored_requests.hpp"

namespace epsilog::engine {

class AuditFold {
 public:
  /// Requires  all of these outlive it.
  AuditFold(ledger::Inspection& inspection, std::vector<AuditFault>& faults)
      : faults_(faults), balances_(faults), requests_(faults), keys_(inspection), credential_audit_(faults) {}

  /// Call in this order: every clock event, policy version, relocation, the credentials, every limit change
  /// and removal, the accounts as they stand, every decision by seq, what is listed as open, then finish().
  void clock_event(const ledger::ClockEvent& event);
  void policy_version(const ledger::PolicyVersion& version);
  void relocation(const ledger::Relocation& relocation);
  void credentials(const std::vector<Credential>& all, const std::string& since) {
    credential_audit_.credentials(all, since);
  }
  void limit_change(const ledger::LimitChange& change) { balances_.limit_change(change); }
  void limit_removal(const ledger::LimitRemoval& removal) { balances_.limit_removal(removal); }
  void accounts(const std::vector<ledger::AccountState>& stored);
  void decision(const ledger::StoredDecision& stored);
  /// In place of one that cannot be read.
  void unreadable_decision(std::int64_t seq) { keys_.next(seq, true); }
  void listed_open(const std::string& id) { requests_.listed_open(id); }
  void finish();

  /// "" for a version that is not there.
  [[nodiscard]] std::string policy_sha256(std::int64_t version) const;
  [[nodiscard]] const CredentialAudit& credential_audit() const noexcept { return credential_audit_; }

 private:
  void fault(const std::string& record, const char* code, std::string message);
  // audit_fold_order.cpp
  /// A policy version in the order of the history.
  struct PolicyPosition {
    std::int64_t after_decision = 0;
    std::int64_t event = 0;
  };
  /// What becomes active before a decision does so in balances too, and it has to say which that is.
  void follow_policies(const ledger::StoredDecision& stored);
  void advance_policy(std::int64_t version);
  void check_active_policy(const ledger::StoredDecision& stored);
  void follow_remaining_policies();

  void check_sequence(const ledger::StoredDecision& stored);
  /// The policy version that was active when it was decided.
  [[nodiscard]] const AppliedPolicy& active_for(const ledger::StoredDecision& stored) const;
  [[nodiscard]] std::string calendar_time(const ledger::StoredDecision& stored) const;
  // Each returns the accounts whose balances are stored with the decision.
  std::vector<ledger::AccountName> check_request(const ledger::StoredDecision& stored);
  std::vector<ledger::AccountName> check_approved(const ledger::StoredDecision& stored,
                                                  const WaitingRequest& waiting);
  std::vector<ledger::AccountName> check_about(const ledger::StoredDecision& stored,
                                               const WaitingRequest& waiting);
  /// Decides it again on the balances that the charges before it add up to, and opens what it opens.
  std::vector<ledger::AccountName> check_decided_on(const ledger::StoredDecision& stored,
                                                    const Request& request, const Terms& terms,
                                                    ledger::Outcome if_granted,
                                                    const std::optional<KeyConflict>& conflict);
  void check_charges(const ledger::StoredDecision& stored, const Terms& terms);
  [[nodiscard]] Terms terms(const AppliedPolicy& applied, const ledger::StoredDecision& stored,
                            const Request& request);
  [[nodiscard]] std::uint64_t required_approvals(const Terms& terms, const Request& request,
                                                 const ledger::StoredDecision& stored) const;
  /// Whether an approval is the last one that is needed.
  [[nodiscard]] bool last_approval(const ledger::StoredDecision& stored, const WaitingRequest& waiting);
  void check_decided(const ledger::StoredDecision& stored, const Decision& decision,
                     ledger::Outcome expected);
  void check_deadline(const ledger::StoredDecision& stored, const Dataset& dataset,
                      const std::vector<ledger::AccountName>& names);
  void apply_charges(const ledger::StoredDecision& stored, const WaitingRequest* waiting);
  void check_release(const ledger::StoredDecision& stored, const Plan& plan);
  void check_values(const ledger::StoredDecision& stored, const Plan& plan);
  void check_balances_after(const ledger::StoredDecision& stored,
                            const std::vector<ledger::AccountName>& names);
  [[nodiscard]] std::optional<KeyConflict> bound_key(const ledger::StoredDecision& stored,
                                                     const std::string& conflicting_key);

  std::vector<AuditFault>& faults_;
  std::map<std::int64_t, std::shared_ptr<const AppliedPolicy>> policies_;  // nullptr: invalid
  std::map<std::int64_t, PolicyPosition> positions_;                       // of the same versions
  AuditBalances balances_;
  AuditCalendar calendar_;
  AuditRequests requests_;
  AskerWindows windows_;
  BoundKeys keys_;
  CredentialAudit credential_audit_;
  StoredRequests texts_;
  PlanCache plans_;
  std::int64_t policy_ = 0;
  std::int64_t last_seq_ = 0;
  std::string last_id_;
  std::string last_time_;
};

}  // namespace epsilog::engine
