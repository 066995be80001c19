#include "audit_fold.hpp"

#include <algorithm>

#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "request_act.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

std::string policy_record(std::int64_t version) {
  return "policy " + std::to_string(version);
}

}  // namespace

void AuditFold::fault(const std::string& record, const char* code, std::string message) {
  faults_.push_back({record, code, std::move(message)});
}

void AuditFold::policy_version(const ledger::PolicyVersion& version) {
  const std::string record = policy_record(version.version);
  const std::int64_t expected = policies_.empty() ? 1 : policies_.rbegin()->first + 1;
  if (version.version != expected) {
    fault(record, "policy_gap", "version " + std::to_string(expected) + " is missing before it");
  }
  if (ledger::sha256_hex(version.yaml) != version.sha256) {
    fault(record, "policy_changed", "its text does not have the recorded SHA-256");
  }
  std::shared_ptr<const AppliedPolicy> applied;
  try {
    applied =
        std::make_shared<const AppliedPolicy>(AppliedPolicy{version, Policy::parse(version.yaml, record)});
  } catch (const PolicyError& error) {
    fault(record, "policy_invalid", error.what());
  }
  policies_[version.version] = applied;
}

void AuditFold::schema_migration(const ledger::SchemaMigration& migration) {
  if (migration.version == 2) last_of_schema_1_ = migration.after_decision;
  if (migration.version == 3) migrated_to_3_ = migration.after_decision;
}

bool AuditFold::of_schema_1(const ledger::StoredDecision& stored) const {
  return stored.seq <= last_of_schema_1_;
}

std::string AuditFold::policy_sha256(std::int64_t version) const {
  const auto found = policies_.find(version);
  return found == policies_.end() || !found->second ? "" : found->second->version.sha256;
}

void AuditFold::clock_event(const ledger::ClockEvent& event) {
  calendar_.clock_event(event);
}

void AuditFold::limit_change(const ledger::LimitChange& change) {
  balances_.limit_change(change);
}

void AuditFold::accounts(const std::vector<ledger::AccountState>& stored) {
  balances_.accounts(stored);
}

void AuditFold::advance_policy(std::int64_t version, std::int64_t after_decision) {
  while (policy_ < version) {
    ++policy_;
    const auto found = policies_.find(policy_);
    if (found == policies_.end() || !found->second) continue;  // named already
    const std::string time = calendar_.at(found->second->version.applied_at, after_decision);
    balances_.policy(policy_, found->second->policy, time, after_decision);
  }
}

/// A decision about an earlier one is made under that one's policy, and does not say which was active. A
/// version that changed a limit says after how many decisions it came; of the others it is enough that it
/// came earlier, for balances do not show them.
void AuditFold::advance_policy_before(const ledger::StoredDecision& stored) {
  for (auto next = policies_.upper_bound(policy_); next != policies_.end(); ++next) {
    const auto came_after = balances_.came_after(next->first);
    const bool before = came_after ? *came_after < stored.seq
                                   : next->second && next->second->version.applied_at < stored.created_at;
    if (!before) return;
    advance_policy(next->first, stored.seq - 1);
  }
}

void AuditFold::check_sequence(const ledger::StoredDecision& stored) {
  if (stored.seq != last_seq_ + 1) {
    fault(
        stored.id, "sequence_gap",
        "has number " + std::to_string(stored.seq) + " where " + std::to_string(last_seq_ + 1) + " belongs");
  }
  last_seq_ = stored.seq;
  if (!last_id_.empty() && stored.id <= last_id_)
    fault(stored.id, "id_order", "is not above the id before it");
  last_id_ = stored.id;
  if (stored.created_at < last_time_)
    fault(stored.id, "time_order", "is dated before the decision before it");
  last_time_ = stored.created_at;
  if (stored.rules < last_rules_ || (migrated_to_3_ < stored.seq && stored.rules < ledger::Rules::joints)) {
    fault(stored.id, "rules_order", "was made under older rules than what came before it");
  }
  last_rules_ = stored.rules;
  if (ledger::sha256_hex(stored.draft.request) != stored.draft.request_digest) {
    fault(stored.id, "request_changed", "its request does not have the recorded digest");
  }
  if (stored.draft.parent.empty() && stored.draft.policy_version < policy_) {
    fault(stored.id, "policy_order", "was decided under an older policy than the decision before it");
  }
}

std::optional<KeyConflict> AuditFold::bound_key(const ledger::StoredDecision& stored,
                                                const std::string& conflicting_key) {
  if (!stored.draft.key.empty()) {
    const auto [entry, fresh] = keys_.try_emplace({stored.draft.principal, stored.draft.key},
                                                  Binding{stored.id, stored.draft.request_digest});
    if (!fresh) {
      fault(stored.id, "key_bound_twice", "its key is bound to decision " + entry->second.id + " already");
    }
  }
  if (conflicting_key.empty()) return std::nullopt;
  const auto bound = keys_.find({stored.draft.principal, conflicting_key});
  if (bound == keys_.end()) {
    fault(stored.id, "key_conflict_unfounded", "no earlier decision is bound to the key it names");
    return std::nullopt;
  }
  return KeyConflict{conflicting_key, bound->second.id};
}

void AuditFold::check_values(const ledger::StoredDecision& stored, const Plan& plan) {
  const std::size_t cells = std::max<std::size_t>(1, plan.record.cells.size());
  if (stored.component_values.size() != plan.mechanisms.size()) {
    return fault(stored.id, "release_changed", "does not hold one value list for each component");
  }
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    if (stored.component_values[i].size() != cells) {
      return fault(stored.id, "release_changed", "does not hold one value for each cell");
    }
    for (const Rational& value : stored.component_values[i]) {
      if (!plan.mechanisms[i].can_release(value)) {
        fault(stored.id, "value_impossible", "holds a value that its mechanism cannot release");
      }
    }
  }
  const accounting::PostProcessing& recipe = plan.derivation.post_processing;
  if (stored.post_processing.kind != recipe.kind || stored.post_processing.centre != recipe.centre ||
      stored.post_processing.lower != recipe.lower || stored.post_processing.upper != recipe.upper) {
    fault(stored.id, "release_changed", "its value was made from components otherwise than its plan says");
  }
  if (stored.values != accounting::post_process(plan.derivation.post_processing, stored.component_values)) {
    fault(stored.id, "value_changed", "its value does not follow from its components");
  }
}

void AuditFold::check_release(const ledger::StoredDecision& stored, const Plan& plan) {
  if (!stored.release) return fault(stored.id, "release_missing", "was granted but holds no release");
  ledger::ReleaseRecord expected = plan.record;
  if (of_schema_1(stored)) expected.unit = expected.relation = "";  // which it did not record yet
  if (*stored.release != expected) {
    fault(stored.id, "release_changed", "its release is not the one that its policy and request give");
  }
  check_values(stored, plan);
}

void AuditFold::check_decided(const ledger::StoredDecision& stored, const Decision& decision,
                              ledger::Outcome expected) {
  if (expected == stored.draft.outcome && reasons_json(decision.reasons()) == stored.draft.reasons) return;
  fault(stored.id, "decision_differs",
        std::string("deciding again gives ") + outcome_name(expected) + " " +
            reasons_json(decision.reasons()) + ", recorded is " + outcome_name(stored.draft.outcome) + " " +
            stored.draft.reasons);
}

void AuditFold::check_deadline(const ledger::StoredDecision& stored, const Dataset& dataset) {
  std::string expected;
  if (stored.draft.outcome == ledger::Outcome::pending && dataset.approvals) {
    expected = instant_after(stored.created_at, dataset.approvals->expires_seconds);
  }
  if (stored.draft.outcome == ledger::Outcome::reserved) {
    expected = instant_after(stored.created_at, dataset.reservation_seconds);
  }
  if (stored.draft.deadline != expected) {
    fault(stored.id, "deadline_changed", "its deadline is not the one that its policy gives");
  }
}

/// Decides the stored request again, on the balances that the charges before it add up to.
std::vector<ledger::AccountName> AuditFold::check_request(const ledger::StoredDecision& stored,
                                                          const WaitingRequest* waiting) {
  const StoredRequest parsed = parse_stored_request(stored.draft.request);
  Request request = parsed.request;
  request.principal = stored.draft.principal;
  request.key = parsed.conflicting_key.empty() ? stored.draft.key : parsed.conflicting_key;
  const auto conflict = bound_key(stored, parsed.conflicting_key);
  const std::string canonical = conflict ? conflicting_request(request) : canonical_request(request);
  if (canonical != stored.draft.request || request.dataset != stored.draft.dataset) {
    fault(stored.id, "request_changed", "its request is not in canonical form");
  }
  const AppliedPolicy& applied = *policies_.at(stored.draft.policy_version);
  const ledger::Rules asked_under = waiting != nullptr ? waiting->root.rules : stored.rules;
  const auto plan = plans_.plan(applied, request, canonical_request(request), asked_under);
  const Dataset& dataset = applied.policy.dataset(request.dataset);
  const std::vector<Ask> asked =
      asks(applied.policy, dataset, request, *plan, calendar_.at(stored.created_at, stored.seq - 1));
  const std::vector<ledger::AccountName> names = account_names(asked);
  const Decision decision =
      decide(applied.policy, dataset, request, *plan, debits(asked, balances_.present(names)), conflict);
  const ledger::Outcome outcome = stored.draft.outcome;
  const bool debited = outcome == ledger::Outcome::granted || outcome == ledger::Outcome::reserved;
  ledger::Outcome expected = outcome_of(decision, request, *plan);
  if (waiting != nullptr) {
    requests_.check_approved(stored, *waiting);
    expected = decision.granted() ? ledger::Outcome::reserved : ledger::Outcome::refused;
  } else if (debited && plan->approvals_required > 0) {
    fault(stored.id, "approval_missing", "its policy asks for approvals, and there was none");
  }
  check_decided(stored, decision, expected);
  check_deadline(stored, dataset);
  if (debited) balances_.open(asked);
  const std::vector<Debit> owed = debited ? debits(asked, balances_.present(names)) : std::vector<Debit>();
  if (std::any_of(owed.begin(), owed.end(), [](const Debit& debit) { return debit.account.id == 0; })) {
    fault(stored.id, "account_missing", "an account that its plan charges is not there");
  } else if (!same_charges(charges(owed), stored.charges)) {
    fault(stored.id, "charge_changed", "its charges are not what its plan costs");
  }
  if (outcome == ledger::Outcome::granted) {
    check_release(stored, *plan);
  } else if (stored.release) {
    fault(stored.id, "release_unfounded", "was not granted but holds a release");
  }
  const bool waits = outcome == ledger::Outcome::pending || outcome == ledger::Outcome::reserved;
  if (waits && waiting == nullptr) requests_.wait(stored, request, plan->approvals_required);
  return names;
}

/// Checks a decision about an earlier one, under that one's policy.
std::vector<ledger::AccountName> AuditFold::check_about(const ledger::StoredDecision& stored,
                                                        const WaitingRequest& waiting) {
  const AppliedPolicy& applied = *policies_.at(stored.draft.policy_version);
  if (stores_act(stored.draft.outcome)) {
    requests_.check_act(stored, waiting, applied);
  } else if (stored.draft.request != waiting.root.draft.request) {
    fault(stored.id, "request_changed", "its request is not that of what it is about");
  } else if (stored.draft.outcome != ledger::Outcome::granted) {
    return check_request(stored, &waiting);
  } else {
    requests_.check_post(stored, waiting, applied.policy);
    check_release(stored, *plans_.plan(applied, waiting.request, canonical_request(waiting.request),
                                       waiting.root.rules));
  }
  std::vector<ledger::AccountName> moved;
  if (waiting.reserved() && stored.draft.outcome != ledger::Outcome::token_issued) {
    for (const ledger::AccountState& account : waiting.holder.accounts) moved.push_back(account.name());
  }
  return moved;
}

void AuditFold::apply_charges(const ledger::StoredDecision& stored, const WaitingRequest* waiting) {
  const ledger::Outcome outcome = stored.draft.outcome;
  const bool settles = waiting != nullptr && waiting->reserved() && outcome != ledger::Outcome::token_issued;
  if (settles) {
    for (const ledger::Charge& charge : waiting->holder.charges) {
      balances_.apply(stored.id, charge, 0, -charge.amount);
    }
  }
  const bool reserves = outcome == ledger::Outcome::reserved;
  for (const ledger::Charge& charge : stored.charges) {
    balances_.apply(stored.id, charge, reserves ? 0 : charge.amount, reserves ? charge.amount : 0);
  }
}

void AuditFold::check_balances_after(const ledger::StoredDecision& stored,
                                     const std::vector<ledger::AccountName>& names) {
  std::vector<ledger::AccountState> expected = balances_.present(names);
  if (of_schema_1(stored)) expected = balances_.of_dataset(stored.draft.dataset);
  const bool same = std::equal(
      expected.begin(), expected.end(), stored.accounts.begin(), stored.accounts.end(),
      [](const ledger::AccountState& first, const ledger::AccountState& second) {
        return first.scope == second.scope && first.measure == second.measure &&
               first.balance.limit == second.balance.limit && first.balance.spent == second.balance.spent &&
               first.balance.reserved == second.balance.reserved;
      });
  if (!same) {
    fault(stored.id, "balance_changed",
          "the balances recorded with it are not the sum of the charges up to it");
  }
}

void AuditFold::decision(const ledger::StoredDecision& stored) {
  check_sequence(stored);
  const auto applied = policies_.find(stored.draft.policy_version);
  if (applied == policies_.end() || !applied->second) {
    return fault(stored.id, "policy_missing", "was decided under a policy that is missing or invalid");
  }
  if (stored.draft.parent.empty()) {
    advance_policy(stored.draft.policy_version, stored.seq - 1);
  } else {
    advance_policy_before(stored);
  }
  const WaitingRequest* waiting = requests_.about(stored);
  std::optional<std::vector<ledger::AccountName>> names;
  try {
    if (waiting != nullptr) {
      names = check_about(stored, *waiting);
    } else if (stored.draft.parent.empty()) {
      names = check_request(stored, nullptr);
    }
  } catch (const Error& error) {
    fault(stored.id, "decision_unreadable", error.what());
  }
  apply_charges(stored, waiting);
  if (names) check_balances_after(stored, *names);
  requests_.follow(stored);
}

void AuditFold::finish() {
  if (!policies_.empty()) advance_policy(policies_.rbegin()->first, last_seq_);
  balances_.finish();
  requests_.finish();
}

}  // namespace epsilog::engine
