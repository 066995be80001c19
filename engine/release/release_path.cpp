#include "release_path.hpp"

#include <algorithm>

#include "access.hpp"
#include "batch_plan.hpp"
#include "budget_notes.hpp"
#include "canonical_request.hpp"
#include "charged_before.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/ledger/digest.hpp"
#include "expiry.hpp"
#include "idempotency.hpp"
#include "judgement.hpp"
#include "question_checks.hpp"
#include "recordable.hpp"
#include "recorded_names.hpp"
#include "request_rules.hpp"
#include "source_location.hpp"

namespace epsilog::engine {
namespace {

void check_loss(const Request& request) {
  if (!request.rho) {
    if (request.epsilon <= 0) throw InvalidParameter("epsilon: must be positive");
    return;
  }
  if (*request.rho <= 0) throw InvalidParameter("rho: must be positive");
  if (request.epsilon != 0 || request.delta) {
    throw InvalidParameter("rho: stands in place of epsilon and delta, not beside them");
  }
}

void check_request(const Request& request) {
  if (request.unread) throw InvalidParameter("request: `unread` is what an engine says of it");
  if (request.principal.empty()) throw InvalidParameter("principal: must not be empty");
  check_name(request.principal, "principal");
  check_via(request.via);
  check_name(request.key, "key");
  check_name(request.purpose, "purpose");
  each_question(request, check_loss);
  if (request.supplied && request.question.statistic.kind != StatisticKind::value) {
    throw InvalidParameter("value: only value:NAME takes a supplied value; " + request_label(request) +
                           " is computed from the data source");
  }
  if (request.supplied && request.reservation != ReservationKind::none) {
    throw InvalidParameter("value: is given when the reservation is committed");
  }
  if (request.reservation == ReservationKind::reserved_against_token &&
      request.question.statistic.kind != StatisticKind::value) {
    throw InvalidParameter("data token: " + request_label(request) +
                           " is computed here, and reads the data in its commit only");
  }
}

/// Whether there is a supplied value is all that can be wrong with it: what it says comes from the true
/// answer. One that waits for approvals is given again to its commit: nothing of it is kept until then.
void check_supplied(const Request& request, std::uint64_t approvals_required) {
  if (request.question.statistic.kind != StatisticKind::value || request.supplied) return;
  if (request.reservation != ReservationKind::none || approvals_required > 0) return;
  throw InvalidParameter("value: '" + request.question.statistic.text() +
                         "' needs the value computed elsewhere (--value)");
}

/// Who may hand in a value, where the policy names them. Its retries are answered all the same.
void check_supplier(const Policy& policy, const Request& request) {
  if (!request.supplied || may_post(policy, request, request.principal)) return;
  throw NotPermitted("'" + request.principal + "' may not hand in '" + request.question.statistic.text() +
                     "': only whom the policy names under supplied_by may; reserve it, and they commit it");
}

ledger::DecisionDraft draft(const PreparedRequest& prepared, const Decision& decision,
                            ledger::Outcome outcome, const std::vector<Debit>& debits, bool conflict) {
  ledger::DecisionDraft result;
  result.principal = prepared.request.principal;
  result.via = prepared.request.via;
  // The conflicting key stays bound to its first decision.
  result.key = conflict ? "" : prepared.request.key;
  result.request = conflict ? conflicting_request(prepared.request) : prepared.canonical;
  result.request_digest = conflict ? ledger::sha256_hex(result.request) : prepared.digest;
  result.dataset = prepared.request.dataset;
  result.policy_version = prepared.applied->version.version;
  result.outcome = outcome;
  result.reasons = recordable_reasons(decision);
  result.shown_account_ids = touched_account_ids(recorded_debits(debits, decision, outcome));
  return result;
}

PlannedRequest planned_request(const PreparedRequest& prepared) {
  return {prepared.applied->policy, *prepared.dataset, prepared.request, *prepared.plan};
}

/// What the request asks of each account, as it stands where `reader` looks.
template <class Reader>
std::vector<Debit> current_debits(Reader& reader, const PreparedRequest& prepared) {
  return debits_of(planned_request(prepared), reader.calendar_time(),
                   [&reader](const auto& names) { return reader.accounts(names); });
}

template <class Reader>
Judgement judge_prepared(Reader& reader, const PreparedRequest& prepared, const std::vector<Debit>& debits,
                         const std::optional<KeyConflict>& conflict) {
  const auto before = [&reader](const ledger::ChargeWindow& window) {
    return charged_before(reader, window);
  };
  return judge(planned_request(prepared), debits, before, conflict, kReasonsStored);
}

accounting::ChargeReceipt take_charge_receipt(ledger::Transaction& transaction,
                                              const ledger::DecisionDraft& granted,
                                              const std::vector<Debit>& debits, const Plan& plan) {
  const std::vector<ledger::ScopeLoss> parts = block_losses(plan);
  if (plan.composed) return transaction.charge(granted, charges(debits), *plan.composed, parts);
  return transaction.charge(granted, charges(debits), plan.charged, parts);
}

void write(ledger::Transaction& transaction, const PreparedRequest& prepared, const Decision& decision,
           ledger::Outcome outcome, std::vector<Debit> debits, bool conflict, mechanisms::BitSource* bits) {
  const bool debited = outcome == ledger::Outcome::granted || outcome == ledger::Outcome::reserved;
  if (debited) open_missing(transaction, debits);
  ledger::DecisionDraft recorded = draft(prepared, decision, outcome, debits, conflict);
  if (outcome == ledger::Outcome::refused) {
    transaction.refuse(recorded);
  } else if (outcome == ledger::Outcome::pending) {
    recorded.deadline = instant_after(transaction.now(), prepared.dataset->approvals->expires_seconds);
    transaction.record_without_movement(recorded);
  } else if (outcome == ledger::Outcome::reserved) {
    std::vector<ledger::AccountName> names;
    for (const Debit& debit : debits) names.push_back(debit.account.name());
    recorded.deadline = reservation_deadline(transaction.now(), prepared.dataset->reservation_seconds, names,
                                             transaction.calendar_held());
    transaction.reserve(recorded, charges(debits));
  } else {
    draw(transaction, *prepared.plan, prepared.exact,
         take_charge_receipt(transaction, recorded, debits, *prepared.plan), *bits);
  }
}

}  // namespace

std::vector<std::int64_t> touched_account_ids(const std::vector<Debit>& debits) {
  std::vector<std::int64_t> ids;
  for (const Debit& debit : debits) {
    if (debit.account.id != 0) ids.push_back(debit.account.id);
  }
  return ids;
}

void open_missing(ledger::Transaction& transaction, std::vector<Debit>& debits) {
  for (Debit& debit : debits) {
    if (debit.account.id == 0) debit.account = transaction.open_account(debit.account);
  }
}

std::size_t bytes_drawn(const Plan& plan) {
  std::size_t bytes = 0;
  for (const Plan* const part : parts_of(plan)) {
    const std::vector<std::size_t> values = cells_drawn(*part);
    for (std::size_t i = 0; i < values.size(); ++i) bytes += part->mechanisms[i].bytes_drawn(values[i]);
  }
  return bytes;
}

void draw(ledger::Transaction& transaction, const Plan& plan, std::span<const ExactAnswer> exact,
          accounting::ChargeReceipt receipt, mechanisms::BitSource& bits) {
  const std::vector<const Plan*> parts = parts_of(plan);
  EPSILOG_INVARIANT(parts.size() == exact.size());
  std::vector<accounting::SealedRelease> sealed;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto& mechanisms = parts[part]->mechanisms;
    for (std::size_t i = 0; i < mechanisms.size(); ++i) {
      sealed.push_back(mechanisms[i].release(exact[part], i, receipt.split(mechanisms[i].charged()), bits));
    }
  }
  EPSILOG_INVARIANT(receipt.amount() == accounting::ApproximateLoss());
  transaction.attach(plan.record, std::move(sealed), plan.derivation.post_processing);
}

std::vector<DerivedQuestion> derived_questions(const Request& request, const Plan& plan) {
  if (request.rows.empty()) return {{request.question, plan.derivation}};
  EPSILOG_INVARIANT(request.rows.size() == plan.rows.size());
  std::vector<DerivedQuestion> questions;
  questions.reserve(request.rows.size());
  for (std::size_t row = 0; row < request.rows.size(); ++row) {
    questions.push_back({request.rows[row].question, plan.rows[row]->derivation});
  }
  return questions;
}

std::vector<ExactAnswer> exact_answers(const Dataset& dataset, const Request& request, const Plan& plan,
                                       const std::string& base_dir, const Progress& progress) {
  return compute_exact_answers(dataset, derived_questions(request, plan), base_dir, progress);
}

std::optional<RecordedRequest> record_request(ledger::Transaction& transaction,
                                              const PreparedRequest& prepared, mechanisms::BitSource* bits) {
  if (prepared.replay) {
    if (prepared.replay->durable) return RecordedRequest{RecordedRequest::Kind::replay, prepared.replay};
    auto now = transaction.find_by_key(prepared.request.principal, prepared.request.key);
    return RecordedRequest{RecordedRequest::Kind::replay,
                           now ? std::move(now) : prepared.replay};  // the turn made it durable
  }
  KeyBinding key = key_binding(transaction, prepared.request, prepared.digest);
  if (key.replay) return RecordedRequest{RecordedRequest::Kind::replay, std::move(key.replay)};
  std::vector<Debit> debits = current_debits(transaction, prepared);
  const auto [decision, outcome, state, approvals] =
      judge_prepared(transaction, prepared, debits, key.conflict);
  if (outcome == ledger::Outcome::granted && prepared.exact.empty()) return std::nullopt;
  write(transaction, prepared, decision, outcome, std::move(debits), key.conflict.has_value(), bits);
  return RecordedRequest{RecordedRequest::Kind::written, std::nullopt};
}

bool reads_source(const PreparedRequest& request) {
  return request.request.question.statistic.kind != StatisticKind::value;
}

std::size_t movements_up(const PreparedRequest& request) {
  if (!request.plan) return 0;          // a replay
  constexpr std::size_t kMeasures = 2;  // of one budget, at most
  const std::size_t blocks = std::max<std::size_t>(request.plan->blocks.size(), 1);
  return kMeasures * (blocks + 1 + request.dataset->limits.size());
}

namespace {

/// Nothing is planned, looked up or bound to a key.
PreparedRequest prepare_unread(EngineState& state, PreparedRequest prepared) {
  prepared.request = admitted_request(prepared.applied->policy, *prepared.dataset, prepared.request);
  prepared.canonical = canonical_request(prepared.request);
  prepared.digest = ledger::sha256_hex(prepared.canonical);
  prepared.plan = state.plans.plan(*prepared.applied, prepared.request, prepared.canonical);
  prepared.expected_outcome = ledger::Outcome::refused;
  return prepared;
}

}  // namespace

PreparedRequest prepare_request(EngineState& state, ledger::Snapshot& view,
                                std::shared_ptr<const AppliedPolicy> active, const Request& request) {
  check_request(request);
  PreparedRequest result;
  result.request = request;
  result.canonical = canonical_request(request);
  result.digest = ledger::sha256_hex(result.canonical);
  result.applied = std::move(active);
  // The key first: a retry is answered even if the policy no longer admits the question.
  KeyBinding key = key_binding(view, request, result.digest);
  if (key.replay) {
    result.replay = std::move(key.replay);
    return result;
  }
  result.dataset = &state.requested_dataset(result.applied->policy, request);
  // Who may not ask learns nothing of columns, declared values and plans from what is wrong with the
  // question.
  if (!may_ask(result.applied->policy, *result.dataset, request.principal)) {
    return prepare_unread(state, std::move(result));
  }
  require_within_caps(request, result.canonical);
  require_askable(*result.dataset, request);
  result.plan = state.plans.plan(*result.applied, request, result.canonical);
  require_answerable(*result.dataset, request, *result.plan);
  const Judgement judgement = judge_prepared(view, result, current_debits(view, result), key.conflict);
  check_supplied(request, std::max(result.plan->approvals_required, judgement.approvals.required));
  check_supplier(result.applied->policy, request);
  result.expected_outcome = judgement.outcome;
  if (reads_source(result)) result.location = view.location(request.dataset);
  return result;
}

std::optional<PreparedRequest> prepare_request_ahead(EngineState& state, const Request& request) {
  PreparedRequest result;
  result.applied = state.newest_policy();
  if (!result.applied) return std::nullopt;
  try {
    check_request(request);
    result.request = request;
    if (reads_source(result) && request.reservation == ReservationKind::none) return std::nullopt;
    result.canonical = canonical_request(request);
    result.plan = state.plans.find(result.applied->version.version, result.canonical);
    if (!result.plan) return std::nullopt;
    require_within_caps(request, result.canonical);
    result.dataset = &state.requested_dataset(result.applied->policy, request);
    if (!may_ask(result.applied->policy, *result.dataset, request.principal)) return std::nullopt;
    require_askable(*result.dataset, request);
    require_answerable(*result.dataset, request, *result.plan);
    check_supplied(request, result.plan->approvals_required);
    check_supplier(result.applied->policy, request);
  } catch (const Error&) {
    return std::nullopt;
  }
  result.digest = ledger::sha256_hex(result.canonical);
  // What the supplied value says is taken down whether it is needed or not.
  if (request.supplied) result.expected_outcome = ledger::Outcome::granted;
  return result;
}

void add_exact_answers(PreparedRequest& request, const std::optional<Folders>& folders,
                       const Progress& progress) {
  if (request.replay || request.expected_outcome != ledger::Outcome::granted) return;
  const Question& question = request.request.question;
  if (question.statistic.kind == StatisticKind::value) {
    request.exact = {ExactAnswer{{{parse_supplied_value(
        *request.request.supplied, *request.dataset->query(question.statistic.subject))}}}};
  } else {
    const std::string& base_dir = request.applied->version.base_dir;
    const auto answer_of = [&](const Dataset& dataset) {
      return open_with_advice(dataset, base_dir, [&] {
        return exact_answers(dataset, request.request, *request.plan, base_dir, progress);
      });
    };
    if (!request.location && !folders) {
      request.exact = answer_of(*request.dataset);
      return;
    }
    Dataset found = request.location ? with_source_at(*request.dataset, *request.location) : *request.dataset;
    request.exact = answer_of(folders ? with_source_in_folders(std::move(found), base_dir, *folders) : found);
  }
}

}  // namespace epsilog::engine
