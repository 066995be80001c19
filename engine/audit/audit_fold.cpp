#include "audit_fold.hpp"

#include <algorithm>

#include "access.hpp"
#include "approval_need.hpp"
#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "implied_object.hpp"
#include "request_act.hpp"
#include "request_family.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

std::string policy_record(std::int64_t version) {
  return "policy " + std::to_string(version);
}

/// Whether the values of several quantiles descend within one cell. `cells` holds `quantiles` values for
/// each.
bool descends_within_a_cell(const std::vector<Rational>& cells, std::size_t quantiles) {
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (i % quantiles != 0 && cells[i] < cells[i - 1]) return true;
  }
  return false;
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
    fault(record, "policy_text_changed", "its text does not have the recorded SHA-256");
  }
  std::shared_ptr<const AppliedPolicy> applied;
  try {
    applied = std::make_shared<const AppliedPolicy>(
        AppliedPolicy{version, Policy::parse_stored(version.yaml, record)});
    if (version.implies != implied_object(applied->policy)) {
      fault(record, "policy_text_changed", "the object beside its text is not what the text implies");
    }
  } catch (const PolicyError& error) {
    fault(record, "policy_invalid", error.what());
  }
  if (applied) windows_.policy(applied->policy);
  policies_[version.version] = applied;
  positions_[version.version] = {version.after_decision, version.event};
}

std::string AuditFold::policy_sha256(std::int64_t version) const {
  const auto found = policies_.find(version);
  return found == policies_.end() || !found->second ? "" : found->second->version.sha256;
}

void AuditFold::clock_event(const ledger::ClockEvent& event) {
  if (event.kind == "confirmed" && !calendar_.stands_still()) {
    fault("clock event " + std::to_string(event.seq), "clock_unfounded",
          "confirms a clock that was not set forwards since the last confirmation");
  }
  calendar_.clock_event(event);
}

void AuditFold::accounts(const std::vector<ledger::AccountState>& stored) {
  balances_.accounts(stored);
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
  if (texts_.digest(stored.draft.request) != stored.draft.request_digest) {
    fault(stored.id, "request_changed", "its request does not have the recorded digest");
  }
}

std::optional<KeyConflict> AuditFold::bound_key(const ledger::StoredDecision& stored,
                                                const std::string& conflicting_key) {
  if (!stored.draft.key.empty()) {
    if (const auto before = keys_.bind(stored)) {
      fault(stored.id, "key_bound_twice", "its key is bound to decision " + *before + " already");
    }
  }
  if (conflicting_key.empty()) return std::nullopt;
  const auto bound = keys_.bound_to(stored.draft.principal, conflicting_key);
  if (!bound) {
    fault(stored.id, "key_conflict_unfounded", "no earlier decision is bound to the key it names");
    return std::nullopt;
  }
  return KeyConflict{conflicting_key, *bound};
}

void AuditFold::check_values(const ledger::StoredDecision& stored, const Plan& plan) {
  if (stored.component_values.size() != plan.mechanisms.size()) {
    return fault(stored.id, "release_changed", "does not hold one value list for each component");
  }
  std::size_t component = 0;
  for (const Plan* const part : parts_of(plan)) {
    const std::vector<std::size_t> values = cells_drawn(*part);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ComponentMechanism& mechanism = part->mechanisms[i];
      const std::vector<Rational>& drawn = stored.component_values[component++];
      if (drawn.size() != values[i]) {
        return fault(stored.id, "release_changed", "does not hold the values of each cell");
      }
      for (const Rational& value : drawn) {
        if (!mechanism.can_release(value)) {
          fault(stored.id, "value_impossible", "holds a value that its mechanism cannot release");
        }
      }
      const auto& selected = part->derivation.components[i].quantiles;
      if (selected && descends_within_a_cell(drawn, selected->quantiles.size())) {
        fault(stored.id, "value_impossible", "holds quantiles of one cell that descend");
      }
    }
  }
  const accounting::PostProcessing& recipe = plan.derivation.post_processing;
  if (stored.post_processing != recipe) {
    fault(stored.id, "release_changed", "its value was made from components otherwise than its plan says");
  }
  if (stored.values != ledger::released_values(plan.record, recipe, stored.component_values)) {
    fault(stored.id, "value_changed", "its value does not follow from its components");
  }
}

void AuditFold::check_release(const ledger::StoredDecision& stored, const Plan& plan) {
  if (!stored.release) return fault(stored.id, "release_missing", "was granted but holds no release");
  if (*stored.release != plan.record) {
    fault(stored.id, "release_changed", "its release is not the one that its policy and request give");
  }
  check_values(stored, plan);
}

void AuditFold::check_decided(const ledger::StoredDecision& stored, const Decision& decision,
                              ledger::Outcome expected) {
  const std::string reasons = reasons_text(decision);
  if (expected == stored.draft.outcome && reasons == stored.draft.reasons) return;
  fault(stored.id, "decision_differs",
        std::string("deciding again gives ") + outcome_name(expected) + " " + reasons + ", recorded is " +
            outcome_name(stored.draft.outcome) + " " + stored.draft.reasons);
}

void AuditFold::check_deadline(const ledger::StoredDecision& stored, const Dataset& dataset,
                               const std::vector<ledger::AccountName>& names) {
  std::string expected;
  if (stored.draft.outcome == ledger::Outcome::pending && dataset.approvals) {
    expected = instant_after(stored.created_at, dataset.approvals->expires_seconds);
  }
  if (stored.draft.outcome == ledger::Outcome::reserved) {
    expected = reservation_deadline(stored.created_at, dataset.reservation_seconds, names,
                                    calendar_.held(stored.seq - 1));
  }
  if (stored.draft.deadline != expected) {
    fault(stored.id, "deadline_changed", "its deadline is not the one that its policy gives");
  }
}

std::string AuditFold::calendar_time(const ledger::StoredDecision& stored) const {
  return calendar_.at(stored.created_at, stored.seq - 1);
}

const AppliedPolicy& AuditFold::active_for(const ledger::StoredDecision& stored) const {
  const auto found = policies_.find(stored.decided_under);
  if (found != policies_.end() && found->second) return *found->second;
  throw LedgerCorrupt("was decided under a policy that is missing or invalid");
}

Terms AuditFold::terms(const AppliedPolicy& applied, const ledger::StoredDecision& stored,
                       const Request& request) {
  return terms_under(applied, request, plans_, calendar_time(stored));
}

std::uint64_t AuditFold::required_approvals(const Terms& terms, const Request& request,
                                            const ledger::StoredDecision& stored) const {
  const auto before = [&](const ledger::ChargeWindow& window) {
    return windows_.before(window, stored.created_at);
  };
  if (terms.plan)
    return approval_need(*terms.dataset, *terms.plan, request.principal, terms.planned_charges, before)
        .required;
  return terms.dataset != nullptr && terms.dataset->approvals ? terms.dataset->approvals->required : 0;
}

void AuditFold::check_charges(const ledger::StoredDecision& stored, const Terms& terms) {
  const ledger::Outcome outcome = stored.draft.outcome;
  const bool debited = outcome == ledger::Outcome::granted || outcome == ledger::Outcome::reserved;
  if (debited) balances_.open(terms.planned_charges);
  std::vector<ledger::Charge> expected;
  if (debited) {
    expected = balances_.charges_of(
        stored.id, debits(terms.planned_charges, balances_.present(account_names(terms.planned_charges))));
  }
  if (!same_charges(expected, stored.charges)) {
    fault(stored.id, "charge_changed", "its charges are not what its plan costs");
  }
}

std::vector<ledger::AccountName> AuditFold::check_decided_on(const ledger::StoredDecision& stored,
                                                             const Request& request, const Terms& terms,
                                                             ledger::Outcome if_granted,
                                                             const std::optional<KeyConflict>& conflict) {
  const std::vector<ledger::AccountName> names = account_names(terms.planned_charges);
  const std::vector<Debit> owed = debits(terms.planned_charges, balances_.present(names));
  const Decision decision =
      decide(terms.applied->policy, *terms.dataset, request, *terms.plan, owed, conflict, kReasonsStored);
  check_decided(stored, decision, decision.granted() ? if_granted : ledger::Outcome::refused);
  check_deadline(stored, *terms.dataset, names);
  check_charges(stored, terms);
  std::vector<ledger::AccountName> recorded;
  for (const Debit& debit : recorded_debits(owed, decision, stored.draft.outcome)) {
    recorded.push_back(debit.charge.account);
  }
  return recorded;
}

namespace {

/// What a request comes to that nothing stands against (docs/reservations.md). Of the audit's own: the
/// writer's table is what it checks.
ledger::Outcome outcome_if_granted(const Request& request, std::uint64_t approvals_required) {
  if (approvals_required != 0) return ledger::Outcome::pending;
  switch (request.reservation) {
    case ReservationKind::none:
      return ledger::Outcome::granted;
    case ReservationKind::reserved:
    case ReservationKind::reserved_against_token:
      return ledger::Outcome::reserved;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

/// Decides the stored request again, on the balances that the charges before it add up to.
std::vector<ledger::AccountName> AuditFold::check_request(const ledger::StoredDecision& stored) {
  credential_audit_.decision(stored);
  const StoredRequests::ParsedText& read = texts_.read(stored.draft.request);
  const StoredRequest& parsed = read.stored;
  Request request = parsed.request;
  request.principal = stored.draft.principal;
  request.key = parsed.conflicting_key.empty() ? stored.draft.key : parsed.conflicting_key;
  const auto conflict = bound_key(stored, parsed.conflicting_key);
  const std::string& canonical = conflict ? read.conflicting : read.canonical;
  if (canonical != stored.draft.request || request.dataset != stored.draft.dataset) {
    fault(stored.id, "request_changed", "its request is not in canonical form");
  }
  const AppliedPolicy& applied = *policies_.at(stored.draft.policy_version);
  Terms asked{
      &applied, &applied.policy.dataset(request.dataset), plans_.plan(applied, request, read.canonical), {}};
  if (may_ask(applied.policy, *asked.dataset, request.principal) == request.unread) {
    fault(stored.id, "decision_differs",
          request.unread ? "keeps no question, and its asker may ask this dataset"
                         : "keeps the question of somebody who may not ask this dataset");
  }
  if (request.unread && !stored.draft.key.empty()) {
    fault(stored.id, "decision_differs", "is bound to a key, and its asker may not ask this dataset");
  }
  const Plan& plan = *asked.plan;
  asked.planned_charges =
      planned_charges(applied.policy, *asked.dataset, request, plan, calendar_time(stored));
  const ledger::Outcome outcome = stored.draft.outcome;
  const bool debited = outcome == ledger::Outcome::granted || outcome == ledger::Outcome::reserved;
  const std::uint64_t approvals_required = request.unread ? 0 : required_approvals(asked, request, stored);
  if (debited && approvals_required > 0) {
    fault(stored.id, "approval_missing", "its policy asks for approvals, and there was none");
  }
  const std::vector<ledger::AccountName> recorded =
      check_decided_on(stored, request, asked, outcome_if_granted(request, approvals_required), conflict);
  if (outcome == ledger::Outcome::granted) {
    check_release(stored, plan);
    if (suppliers_of(applied.policy, request) != nullptr &&
        !may_post(applied.policy, request, request.principal)) {
      fault(stored.id, "actor_not_entitled", "was asked with a value by who may not hand one in");
    }
  } else if (stored.release) {
    fault(stored.id, "release_unfounded", "was not granted but holds a release");
  }
  const bool waits = outcome == ledger::Outcome::pending || outcome == ledger::Outcome::reserved;
  if (waits) requests_.wait(stored, request, approvals_required);
  return recorded;
}

/// Decides again what waited for approvals: under the active policy, if that plans the same.
std::vector<ledger::AccountName> AuditFold::check_approved(const ledger::StoredDecision& stored,
                                                           const WaitingRequest& waiting) {
  if (!stored.draft.key.empty()) static_cast<void>(bound_key(stored, ""));
  const AppliedPolicy& of_root = *policies_.at(waiting.root.draft.policy_version);
  const AppliedPolicy& active = active_for(stored);
  const Terms asked = terms(of_root, stored, waiting.request);
  const Terms now = terms(active, stored, waiting.request);
  if (!asked.plan) throw LedgerCorrupt("cannot be planned under its policy");
  requests_.check_approved(stored, waiting, active, required_approvals(now, waiting.request, stored));
  if (stored.release) fault(stored.id, "release_unfounded", "was not granted but holds a release");
  if (const auto changed = policy_changed_reason(asked, now)) {
    check_decided(stored, Decision({*changed}, 1), ledger::Outcome::refused);
    check_charges(stored, now);
    return {};
  }
  return check_decided_on(stored, waiting.request, now, ledger::Outcome::reserved, std::nullopt);
}

bool AuditFold::last_approval(const ledger::StoredDecision& stored, const WaitingRequest& waiting) {
  if (stored.draft.outcome != ledger::Outcome::approved) return false;
  const AppliedPolicy& active = active_for(stored);
  const Terms now = terms(active, stored, waiting.request);
  return entitled_approvals(active.policy, waiting) + 1 >= required_approvals(now, waiting.request, stored);
}

/// Checks a decision about an earlier one.
std::vector<ledger::AccountName> AuditFold::check_about(const ledger::StoredDecision& stored,
                                                        const WaitingRequest& waiting) {
  const std::string calendar = calendar_time(stored);
  const Standpoint at{active_for(stored), calendar};
  if (stores_act(stored.draft.outcome)) {
    if (requests_.check_act(stored, waiting, at)) credential_audit_.decision(stored);
  } else if (stored.draft.request != waiting.root.draft.request) {
    fault(stored.id, "request_changed", "its request is not that of what it is about");
  } else if (stored.draft.outcome != ledger::Outcome::granted) {
    return check_approved(stored, waiting);
  } else {
    credential_audit_.decision(stored);
    requests_.check_post(stored, waiting, at);
    const auto planned = policies_.find(planning_version(waiting.holder));
    if (planned == policies_.end() || !planned->second) {
      throw LedgerCorrupt("posts a reservation planned under a policy that is missing or invalid");
    }
    check_release(stored,
                  *plans_.plan(*planned->second, waiting.request, canonical_request(waiting.request)));
  }
  std::vector<ledger::AccountName> moved;
  if (waiting.reserved() && stored.draft.outcome != ledger::Outcome::data_accessed) {
    for (const ledger::AccountState& account : waiting.holder.accounts) moved.push_back(account.name());
  }
  if (stored.draft.outcome == ledger::Outcome::voided) moved.resize(recordable_count(moved));
  return moved;
}

void AuditFold::apply_charges(const ledger::StoredDecision& stored, const WaitingRequest* waiting) {
  const ledger::Outcome outcome = stored.draft.outcome;
  const bool settles = waiting != nullptr && waiting->reserved() && outcome != ledger::Outcome::data_accessed;
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
  const std::vector<ledger::AccountState> expected = balances_.present(names);
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
  keys_.next(stored.seq, !stored.draft.key.empty());
  const auto applied = policies_.find(stored.draft.policy_version);
  if (applied == policies_.end() || !applied->second) {
    return fault(stored.id, "policy_missing", "was decided under a policy that is missing or invalid");
  }
  try {
    follow_policies(stored);
  } catch (const Error& error) {
    fault(stored.id, "decision_unreadable", error.what());
  }
  const WaitingRequest* waiting = requests_.about(stored);
  std::optional<std::vector<ledger::AccountName>> names;
  bool last = false;
  try {
    if (waiting != nullptr) {
      last = last_approval(stored, *waiting);
      names = check_about(stored, *waiting);
    } else if (stored.draft.parent.empty()) {
      names = check_request(stored);
    }
  } catch (const LedgerBusy&) {  // of a look-up, which says nothing of the decision
    throw;
  } catch (const LedgerIo&) {
    throw;
  } catch (const LedgerUnusable&) {
    throw;
  } catch (const Error& error) {
    fault(stored.id, "decision_unreadable", error.what());
  }
  apply_charges(stored, waiting);
  windows_.decision(stored, waiting);
  if (names) check_balances_after(stored, *names);
  requests_.follow(stored, last);
}

void AuditFold::finish() {
  follow_remaining_policies();
  balances_.finish();
  requests_.finish();
}

}  // namespace epsilog::engine
