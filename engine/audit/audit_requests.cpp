#include "audit_requests.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "request_act.hpp"
#include "request_rules.hpp"

namespace epsilog::engine {
namespace {

using ledger::Outcome;
using ledger::StoredDecision;

bool may_follow(Outcome outcome, bool reserved) {
  switch (outcome) {
    case Outcome::approved:
    case Outcome::rejected:
    case Outcome::refused:
    case Outcome::reserved:
      return !reserved;
    case Outcome::granted:
    case Outcome::data_accessed:
    case Outcome::forfeited:
      return reserved;
    case Outcome::voided:
      return true;
    case Outcome::pending:
      return false;
  }
  EPSILOG_INVARIANT(false);
}

bool leaves_open(Outcome outcome) {
  return outcome == Outcome::approved || outcome == Outcome::data_accessed;
}

std::string quoted(const std::string& name) {
  return "'" + name + "'";
}

bool approves(const Policy& policy, const WaitingRequest& waiting, const std::string& who) {
  const Dataset* dataset = find_dataset(policy, waiting.request.dataset);
  return dataset != nullptr && may_approve(policy, *dataset, waiting.request.principal, who);
}

}  // namespace

std::uint64_t entitled_approvals(const Policy& policy, const WaitingRequest& waiting) {
  return static_cast<std::uint64_t>(
      std::count_if(waiting.approvers.begin(), waiting.approvers.end(),
                    [&](const std::string& who) { return approves(policy, waiting, who); }));
}

bool holds_past_period(const WaitingRequest& waiting, const std::string& calendar_time) {
  return waiting.reserved() && std::any_of(waiting.holder.accounts.begin(), waiting.holder.accounts.end(),
                                           [&](const ledger::AccountState& account) {
                                             return period_over(account.scope, calendar_time);
                                           });
}

bool same_charges(const std::vector<ledger::Charge>& first, const std::vector<ledger::Charge>& second) {
  return std::is_permutation(first.begin(), first.end(), second.begin(), second.end(),
                             [](const ledger::Charge& one, const ledger::Charge& other) {
                               return one.account == other.account && one.amount == other.amount;
                             });
}

void AuditRequests::fault(const std::string& record, const char* code, std::string message) {
  faults_.push_back({record, code, std::move(message)});
}

const WaitingRequest* AuditRequests::about(const StoredDecision& stored) {
  const Outcome outcome = stored.draft.outcome;
  if (!due_.empty() &&
      (stored.draft.parent != due_ || (outcome != Outcome::reserved && outcome != Outcome::refused))) {
    fault(due_, "approval_ignored", "had all its approvals and was not decided by the next record");
  }
  due_.clear();
  if (stored.draft.parent.empty()) return nullptr;
  const auto entry = open_.find(stored.draft.parent);
  if (entry == open_.end()) {
    fault(stored.id, "parent_not_open", "is about " + stored.draft.parent + ", which does not wait there");
    return nullptr;
  }
  const WaitingRequest& waiting = entry->second;
  if (!may_follow(outcome, waiting.reserved())) {
    fault(stored.id, "parent_not_open",
          std::string("is ") + outcome_name(outcome) + ", which one that is " +
              outcome_name(waiting.holder.draft.outcome) + " cannot become");
    return nullptr;
  }
  if (stored.draft.dataset != waiting.root.draft.dataset ||
      stored.draft.policy_version != waiting.root.draft.policy_version) {
    fault(stored.id, "parent_differs", "is not of the dataset and policy version of what it is about");
  }
  if (!stored.draft.key.empty()) fault(stored.id, "parent_differs", "is bound to a key of its own");
  return &waiting;
}

void AuditRequests::check_in_time(const StoredDecision& stored, const WaitingRequest& waiting) {
  if (stored.created_at < waiting.holder.draft.deadline) return;
  fault(stored.id, "overdue",
        "came at " + stored.created_at + ", after the deadline " + waiting.holder.draft.deadline);
}

/// A reservation ends with its period.
void AuditRequests::check_period(const StoredDecision& stored, const WaitingRequest& waiting,
                                 const Standpoint& at) {
  if (!holds_past_period(waiting, at.calendar_time)) return;
  fault(stored.id, "overdue", "came at " + at.calendar_time + " of the calendar, when the period was over");
}

/// What is no longer allowed is not read any more.
void AuditRequests::check_allowed(const StoredDecision& stored, const WaitingRequest& waiting,
                                  const Standpoint& at) {
  if (still_allowed(at.active.policy, waiting.request)) return;
  fault(stored.id, "request_not_allowed",
        "was committed when policy version " + std::to_string(at.active.version.version) +
            " allowed the request no more");
}

void AuditRequests::check_approver(const StoredDecision& stored, const WaitingRequest& waiting,
                                   const Standpoint& at) {
  const std::string& who = stored.draft.principal;
  if (!approves(at.active.policy, waiting, who)) {
    fault(stored.id, "approver_not_entitled", quoted(who) + " is not one of its approvers");
  }
  if (waiting.approvers.contains(who)) {
    fault(stored.id, "approved_twice", quoted(who) + " had approved it already");
  }
  check_in_time(stored, waiting);
}

void AuditRequests::check_poster(const StoredDecision& stored, const WaitingRequest& waiting,
                                 const Standpoint& at) {
  const std::string& who = stored.draft.principal;
  if (may_post(at.active.policy, waiting.request, who)) return;
  const bool named = suppliers_of(at.active.policy, waiting.request) != nullptr;
  fault(stored.id, "actor_not_entitled",
        quoted(who) + (named ? " is not one of those who hand in its value" : " did not ask for it"));
}

void AuditRequests::check_token(const StoredDecision& stored, const WaitingRequest& waiting, bool read_here,
                                const Standpoint& at) {
  const bool computed_here = waiting.request.question.statistic.kind != StatisticKind::value;
  const bool guarded = waiting.request.reservation == ReservationKind::reserved_against_token;
  if (read_here ? !computed_here : !guarded) {
    fault(stored.id, "token_unfounded", "nothing is handed out against a token of this reservation");
  }
  if (read_here == stored.token.has_value()) {
    fault(stored.id, "token_unfounded",
          read_here ? "has a data token, and hands nothing out" : "does not have the token that it issued");
  }
  if (waiting.data_accessed) fault(stored.id, "token_unfounded", "its token had been issued already");
  check_poster(stored, waiting, at);
  check_in_time(stored, waiting);
  check_period(stored, waiting, at);
  check_allowed(stored, waiting, at);
}

void AuditRequests::check_cancelled(const StoredDecision& stored, const WaitingRequest& waiting,
                                    const Act& act, const Standpoint& at) {
  const std::string& who = stored.draft.principal;
  const Policy& policy = at.active.policy;
  check_in_time(stored, waiting);
  check_period(stored, waiting, at);
  // That the policy forbids it is found by who would commit it.
  const bool by_poster = !act.why.empty() && may_post(policy, waiting.request, who);
  const bool by_asker = by_poster || may_commit(policy, waiting.request.principal, who);
  if (!by_asker && (!act.why.empty() || !approves(policy, waiting, who))) {
    fault(stored.id, "actor_not_entitled", quoted(who) + " may not cancel it");
  }
  if (act.why.empty()) return;
  const bool founded =
      act.why == kPolicyChanged && waiting.reserved() && !still_allowed(at.active.policy, waiting.request);
  if (!founded) fault(stored.id, "act_changed", "says that the policy forbids it, which it does not");
}

void AuditRequests::check_expired(const StoredDecision& stored, const WaitingRequest& waiting,
                                  const Standpoint& at) {
  const bool over =
      stored.created_at >= waiting.holder.draft.deadline || holds_past_period(waiting, at.calendar_time);
  if (!over) fault(stored.id, "expired_early", "ended before its deadline " + waiting.holder.draft.deadline);
  if (stored.draft.principal != waiting.request.principal) {
    fault(stored.id, "actor_not_entitled",
          "expired in the name of " + quoted(stored.draft.principal) + ", who did not ask");
  }
  check_follows(stored, waiting);
}

/// What nobody asks for by itself says of who asked what the request says.
void AuditRequests::check_follows(const StoredDecision& stored, const WaitingRequest& waiting) {
  if (stored.via == waiting.root.via) return;
  fault(stored.id, "via_unfounded",
        "follows from " + waiting.root.id + " via " + waiting.root.via + ", and says via " + stored.via);
}

void AuditRequests::check_end(const StoredDecision& stored, const WaitingRequest& waiting) {
  const bool forfeited = stored.draft.outcome == Outcome::forfeited;
  const bool seen = waiting.reserved() && data_may_be_seen(waiting.request, waiting.data_accessed);
  if (forfeited && !seen) fault(stored.id, "forfeit_unfounded", "nobody can have seen the data for it");
  if (!forfeited && seen) fault(stored.id, "void_unfounded", "was given back when the data may be known");
  const std::vector<ledger::Charge> none;
  if (!same_charges(stored.charges, forfeited ? waiting.holder.charges : none)) {
    fault(stored.id, "charge_changed", "its charges are not those of what it ends");
  }
}

bool AuditRequests::check_act(const StoredDecision& stored, const WaitingRequest& waiting,
                              const Standpoint& at) {
  const Act act = parse_act(stored.draft.request);
  if (act.decision != stored.draft.parent || !fits(act.verb, stored.draft.outcome) ||
      stored.draft.reasons != "[]" || !stored.draft.deadline.empty() || stored.release) {
    fault(stored.id, "act_changed", "what it holds is not what such a decision records");
  }
  switch (act.verb) {
    case Act::Verb::approve:
    case Act::Verb::reject:
      check_approver(stored, waiting, at);
      break;
    case Act::Verb::issue_token:
    case Act::Verb::read_source:
      check_token(stored, waiting, act.verb == Act::Verb::read_source, at);
      break;
    case Act::Verb::cancel:
      check_cancelled(stored, waiting, act, at);
      check_end(stored, waiting);
      return true;
    case Act::Verb::expire:
      check_expired(stored, waiting, at);
      check_end(stored, waiting);
      return false;
  }
  if (!stored.charges.empty()) fault(stored.id, "charge_changed", "charges something, and costs nothing");
  return true;
}

void AuditRequests::check_post(const StoredDecision& stored, const WaitingRequest& waiting,
                               const Standpoint& at) {
  if (!same_charges(stored.charges, waiting.holder.charges)) {
    fault(stored.id, "charge_changed", "its charges are not what was reserved for it");
  }
  check_poster(stored, waiting, at);
  const bool computed_here = waiting.request.question.statistic.kind != StatisticKind::value;
  const bool guarded = waiting.request.reservation == ReservationKind::reserved_against_token;
  if ((computed_here || guarded) && !waiting.data_accessed) {
    fault(stored.id, "token_missing", "was released although no token for its data was on record");
  }
  // Whoever began to read in time may take longer, but not into the next period.
  if (!computed_here) check_in_time(stored, waiting);
  check_period(stored, waiting, at);
  check_allowed(stored, waiting, at);
}

void AuditRequests::check_approved(const StoredDecision& stored, const WaitingRequest& waiting,
                                   const AppliedPolicy& active, std::uint64_t required) {
  const std::uint64_t votes = entitled_approvals(active.policy, waiting);
  if (votes < required) {
    fault(stored.id, "approval_missing",
          "was decided after " + std::to_string(votes) + " of " + std::to_string(required) + " approvals");
  }
  if (stored.draft.principal != waiting.request.principal) {
    fault(stored.id, "actor_not_entitled", "is not in the name of who asked");
  }
  check_follows(stored, waiting);
  check_in_time(stored, waiting);
}

void AuditRequests::wait(const StoredDecision& stored, Request request, std::uint64_t required) {
  open_.insert_or_assign(stored.id, WaitingRequest{stored, stored, std::move(request), required});
}

void AuditRequests::follow(const StoredDecision& stored, bool last) {
  const auto entry = open_.find(stored.draft.parent);
  if (entry == open_.end()) return;
  WaitingRequest& waiting = entry->second;
  const Outcome outcome = stored.draft.outcome;
  if (outcome == Outcome::approved) {
    waiting.approvers.insert(stored.draft.principal);
    if (last) due_ = waiting.holder.id;
  }
  if (outcome == Outcome::data_accessed) waiting.data_accessed = true;
  if (leaves_open(outcome)) return;
  auto ended = open_.extract(entry);
  if (outcome != Outcome::reserved) return;
  ended.mapped().holder = stored;
  ended.key() = stored.id;
  open_.insert(std::move(ended));
}

void AuditRequests::finish() {
  if (!due_.empty()) fault(due_, "approval_ignored", "had all its approvals and was not decided");
  for (const auto& [id, waiting] : open_) {
    if (!listed_.contains(id)) fault(id, "open_list_changed", "waits, and is not listed among what is open");
  }
  for (const std::string& id : listed_) {
    if (!open_.contains(id)) fault(id, "open_list_changed", "is listed as open, and does not wait");
  }
}

}  // namespace epsilog::engine
