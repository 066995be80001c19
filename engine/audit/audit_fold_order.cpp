// Which policy version was active at each decision.
//
// Every version says after which decision it came, and every decision which version was active.
#include "audit_fold.hpp"
#include "epsilog/accounting/errors.hpp"
#include "later_policy.hpp"

namespace epsilog::engine {

/// A source can move where the policy that was active then declares one.
void AuditFold::relocation(const ledger::Relocation& relocation) {
  std::shared_ptr<const AppliedPolicy> active;
  for (const auto& [version, place] : positions_) {
    if (place.event < relocation.event) active = policies_.at(version);
  }
  if (!active) return;  // named already
  const Dataset* dataset = find_dataset(active->policy, relocation.dataset);
  if (dataset != nullptr && dataset->has_source()) return;
  fault("relocation " + std::to_string(relocation.seq), "relocation_unfounded",
        "is of the source of dataset '" + relocation.dataset + "', and policy " +
            std::to_string(active->version.version) + ", active then, declares none");
}

void AuditFold::advance_policy(std::int64_t version) {
  while (policy_ < version) {
    ++policy_;
    const auto found = policies_.find(policy_);
    if (found == policies_.end() || !found->second) continue;  // named already
    const auto before = policies_.find(policy_ - 1);
    const AppliedPolicy& applied = *found->second;
    try {
      balances_.policy(applied, before == policies_.end() ? nullptr : before->second.get(),
                       calendar_.at(applied.version));
    } catch (const Error& error) {
      fault("policy " + std::to_string(policy_), "policy_unreadable", error.what());
    }
  }
}

void AuditFold::check_active_policy(const ledger::StoredDecision& stored) {
  const std::int64_t version = stored.draft.policy_version;
  const std::string active = "policy " + std::to_string(policy_) + " was active then";
  if (stored.decided_under != policy_) {
    fault(
        stored.id, "policy_order",
        "says that it was decided under policy " + std::to_string(stored.decided_under) + ", and " + active);
  } else if (stored.draft.parent.empty() && version != policy_) {
    fault(stored.id, "policy_order", "was asked under policy " + std::to_string(version) + ", and " + active);
  }
}

void AuditFold::follow_policies(const ledger::StoredDecision& stored) {
  std::int64_t last = policy_;
  for (auto next = positions_.upper_bound(policy_); next != positions_.end(); ++next) {
    if (next->second.after_decision >= stored.seq) break;
    last = next->first;
  }
  advance_policy(last);
  check_active_policy(stored);
}

void AuditFold::follow_remaining_policies() {
  for (auto next = positions_.upper_bound(policy_); next != positions_.end();
       next = positions_.upper_bound(policy_)) {
    const PolicyPosition& place = next->second;
    if (place.after_decision > last_seq_) {
      fault("policy " + std::to_string(next->first), "policy_order",
            "stands after decision " + std::to_string(place.after_decision) + ", and the last is " +
                std::to_string(last_seq_));
    }
    advance_policy(next->first);
  }
}

}  // namespace epsilog::engine
