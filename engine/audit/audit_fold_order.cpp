// Which policy version was active at each decision.
//
// Since schema 3 both stand in one stored order, and every decision says it. Of older rows a version says
// after which decision it came where it changed a limit; a decision about nothing earlier says under which
// version it was made; and ledger time orders what is not of one instant. What that leaves open is read in
// the way in which the rows agree.
#include "audit_fold.hpp"
#include "epsilog/accounting/errors.hpp"
#include "later_policy.hpp"

namespace epsilog::engine {

/// Whether it was recorded by a program that kept the order.
bool AuditFold::in_order(const ledger::StoredDecision& stored) {
  return stored.rules >= ledger::Rules::joints || stored.decided_under > 0;
}

/// After how many decisions a version came; nothing where that was not recorded.
std::optional<std::int64_t> AuditFold::came_after(std::int64_t version) const {
  const PolicyPlace& place = places_.at(version);
  return place.event > 0 ? place.after_decision : balances_.came_after(version);
}

/// Where a version stands to a decision.
AuditFold::Place AuditFold::place_of(std::int64_t version, const ledger::StoredDecision& stored) const {
  const PolicyPlace& place = places_.at(version);
  if (place.event == 0 && in_order(stored)) return Place::before;  // of schema 2, and migrated since
  if (const auto after = came_after(version)) return *after < stored.seq ? Place::before : Place::after;
  if (place.applied_at == stored.created_at) return Place::either;
  return place.applied_at < stored.created_at ? Place::before : Place::after;
}

/// A source can move where the policy that was active then declares one.
void AuditFold::relocation(const ledger::Relocation& relocation) {
  std::shared_ptr<const AppliedPolicy> active;
  for (const auto& [version, place] : places_) {
    if (place.event < relocation.event) active = policies_.at(version);
  }
  if (!active) return;  // named already
  const Dataset* dataset = find_dataset(active->policy, relocation.dataset);
  if (dataset != nullptr && dataset->has_source()) return;
  fault("relocation " + std::to_string(relocation.seq), "relocation_unfounded",
        "is of the source of dataset '" + relocation.dataset + "', and policy " +
            std::to_string(active->version.version) + ", active then, declares none");
}

void AuditFold::advance_policy(std::int64_t version, std::int64_t after_decision) {
  while (policy_ < version) {
    ++policy_;
    const auto found = policies_.find(policy_);
    if (found == policies_.end() || !found->second) continue;  // named already
    const auto before = policies_.find(policy_ - 1);
    const PolicyPlace& place = places_.at(policy_);
    if (place.event > 0) after_decision = place.after_decision;
    try {
      balances_.policy(*found->second, before == policies_.end() ? nullptr : before->second.get(),
                       calendar_.at(found->second->version, came_after(policy_)), after_decision);
    } catch (const Error& error) {
      fault("policy " + std::to_string(policy_), "policy_unreadable", error.what());
    }
  }
}

/// Of versions of the same instant, which no row places, it is enough to follow those that must have come
/// before: the others changed no limit, and balances do not show them.
void AuditFold::advance_policy_before(const ledger::StoredDecision& stored) {
  std::int64_t last = policy_;
  for (auto next = policies_.upper_bound(policy_); next != policies_.end(); ++next) {
    const Place place = place_of(next->first, stored);
    if (place == Place::after) break;
    const bool before =
        place == Place::before ||
        (next->second && balances_.opened_after(next->second->policy,
                                                calendar_.at(stored.created_at, stored.seq - 1), stored));
    if (before) last = next->first;
  }
  advance_policy(last, stored.seq - 1);
}

void AuditFold::check_active_policy(const ledger::StoredDecision& stored) {
  const std::int64_t version = stored.draft.policy_version;
  const bool about_nothing = stored.draft.parent.empty();
  if (!in_order(stored)) {
    if (about_nothing && version < policy_) {
      fault(stored.id, "policy_order", "was decided under an older policy than the decision before it");
    } else if (about_nothing && places_.at(version).event > 0 &&
               places_.at(version).after_decision >= stored.seq) {
      fault(stored.id, "policy_order", "was decided under a policy that came after it");
    }
    return;
  }
  const std::string active = "policy " + std::to_string(policy_) + " was active then";
  if (stored.decided_under != policy_) {
    fault(
        stored.id, "policy_order",
        "says that it was decided under policy " + std::to_string(stored.decided_under) + ", and " + active);
  } else if (about_nothing && version != policy_) {
    fault(stored.id, "policy_order", "was asked under policy " + std::to_string(version) + ", and " + active);
  }
}

void AuditFold::follow_policies(const ledger::StoredDecision& stored) {
  if (stored.draft.parent.empty() && !in_order(stored)) {
    check_active_policy(stored);
    advance_policy(stored.draft.policy_version, stored.seq - 1);
    return;
  }
  advance_policy_before(stored);
  check_active_policy(stored);
}

void AuditFold::follow_remaining_policies() {
  for (auto next = places_.upper_bound(policy_); next != places_.end(); next = places_.upper_bound(policy_)) {
    const PolicyPlace& place = next->second;
    if (place.event > 0 && place.after_decision > last_seq_) {
      fault("policy " + std::to_string(next->first), "policy_order",
            "stands after decision " + std::to_string(place.after_decision) + ", and the last is " +
                std::to_string(last_seq_));
    }
    advance_policy(next->first, last_seq_);
  }
}

}  // namespace epsilog::engine
