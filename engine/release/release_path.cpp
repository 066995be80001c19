#include "release_path.hpp"

#include <map>

#include "budget_notes.hpp"
#include "canonical_request.hpp"
#include "condition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/engine/utf8.hpp"
#include "epsilog/ledger/digest.hpp"
#include "expiry.hpp"
#include "idempotency.hpp"
#include "judgement.hpp"
#include "recordable.hpp"
#include "request_rules.hpp"
#include "source_location.hpp"
#include "whole_answers.hpp"

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
  if (request.principal.empty()) throw InvalidParameter("principal: must not be empty");
  check_name(request.principal, "principal");
  check_name(request.key, "key");
  check_name(request.purpose, "purpose");
  check_loss(request);
  if (request.supplied && request.question.statistic.kind != StatisticKind::value) {
    throw InvalidParameter("value: only value:NAME takes a supplied value; '" +
                           request.question.statistic.text() + "' is computed from the data source");
  }
  if (request.supplied && request.holding != Holding::none) {
    throw InvalidParameter("value: is given when the reservation is committed");
  }
  if (request.holding == Holding::reserved_against_token &&
      request.question.statistic.kind != StatisticKind::value) {
    throw InvalidParameter("data token: '" + request.question.statistic.text() +
                           "' is computed here, and reads the data in its commit only");
  }
}

/// Whether there is a supplied value is all that can be wrong with it: what it says comes from the true
/// answer. One that waits for approvals is given again to its commit: nothing of it is kept until then.
void check_supplied(const Request& request, const Plan& plan) {
  if (request.question.statistic.kind != StatisticKind::value || request.supplied) return;
  if (request.holding != Holding::none || plan.approvals_required > 0) return;
  throw InvalidParameter("value: '" + request.question.statistic.text() +
                         "' needs the value computed elsewhere (--value)");
}

ledger::DecisionDraft draft(const Prepared& prepared, const Decision& decision, ledger::Outcome outcome,
                            const std::vector<Debit>& debits, bool conflict) {
  ledger::DecisionDraft result;
  result.principal = prepared.request.principal;
  // The conflicting key stays bound to its first decision.
  result.key = conflict ? "" : prepared.request.key;
  result.request = conflict ? conflicting_request(prepared.request) : prepared.canonical;
  result.request_digest = conflict ? ledger::sha256_hex(result.request) : prepared.digest;
  result.dataset = prepared.request.dataset;
  result.policy_version = prepared.applied->version.version;
  result.outcome = outcome;
  result.reasons = recordable_reasons(decision);
  result.touched = touched(recorded_debits(debits, decision, outcome, ledger::kRules));
  return result;
}

PlannedRequest planned_request(const Prepared& prepared) {
  return {prepared.applied->policy, *prepared.dataset, prepared.request, *prepared.plan};
}

/// What the request asks of each account, as it stands where `reader` looks.
template <class Reader>
std::vector<Debit> debits_where(Reader& reader, const Prepared& prepared) {
  return debits_of(planned_request(prepared), reader.calendar_time(),
                   [&reader](const auto& names) { return reader.accounts(names); });
}

Judgement judged_now(const Prepared& prepared, const std::vector<Debit>& debits,
                     const std::optional<KeyConflict>& conflict) {
  return judged(planned_request(prepared), debits, conflict, reasons_told(ledger::kRules));
}

bool reads_source(const Prepared& prepared) {
  return prepared.request.question.statistic.kind != StatisticKind::value;
}

/// What became of one request inside the transaction.
struct Recorded {
  enum class Kind { replay, written, outdated } kind;
  std::optional<ledger::StoredDecision> earlier;  ///< for replay
};

void write(ledger::Transaction& transaction, const Prepared& prepared, const Decision& decision,
           ledger::Outcome outcome, std::vector<Debit> debits, bool conflict, mechanisms::BitSource* bits) {
  const bool debited = outcome == ledger::Outcome::granted || outcome == ledger::Outcome::reserved;
  if (debited) open_missing(transaction, debits);
  ledger::DecisionDraft recorded = draft(prepared, decision, outcome, debits, conflict);
  if (outcome == ledger::Outcome::refused) {
    transaction.refuse(recorded);
  } else if (outcome == ledger::Outcome::pending) {
    recorded.deadline = instant_after(transaction.now(), prepared.dataset->approvals->expires_seconds);
    transaction.note(recorded);
  } else if (outcome == ledger::Outcome::reserved) {
    std::vector<ledger::AccountName> names;
    for (const Debit& debit : debits) names.push_back(debit.account.name());
    recorded.deadline = reservation_deadline(transaction.now(), prepared.dataset->reservation_seconds, names,
                                             transaction.calendar_held());
    transaction.reserve(recorded, charges(debits));
  } else {
    draw(transaction, *prepared.plan, *prepared.exact,
         transaction.charge(recorded, charges(debits), prepared.plan->charged), *bits);
  }
}

Recorded record(ledger::Transaction& transaction, const Prepared& prepared, mechanisms::BitSource* bits) {
  if (prepared.replay) {
    if (prepared.replay->durable) return {Recorded::Kind::replay, prepared.replay};
    auto now = transaction.find_key(prepared.request.principal, prepared.request.key);
    return {Recorded::Kind::replay, now ? std::move(now) : prepared.replay};  // the turn made it durable
  }
  KeyBinding key = key_binding(transaction, prepared.request, prepared.digest);
  if (key.replay) return {Recorded::Kind::replay, std::move(key.replay)};
  std::vector<Debit> debits = debits_where(transaction, prepared);
  const auto [decision, outcome, state] = judged_now(prepared, debits, key.conflict);
  if (outcome == ledger::Outcome::granted && !prepared.exact) {
    return {Recorded::Kind::outdated, std::nullopt};
  }
  write(transaction, prepared, decision, outcome, std::move(debits), key.conflict.has_value(), bits);
  return {Recorded::Kind::written, std::nullopt};
}

}  // namespace

void check_name(const std::string& text, const char* what) {
  constexpr std::size_t kBytesMax = 256;
  if (text.size() > kBytesMax) throw InvalidParameter(std::string(what) + ": is longer than 256 bytes");
  check_text(text, what);
}

void check_reason(const std::string& why) {
  check_name(why, "why");
  if (!why.empty() && why.find_first_not_of(' ') == std::string::npos) {
    throw InvalidParameter("why: has blanks only");
  }
}

void check_text(const std::string& text, const char* what) {
  if (!is_utf8(text)) throw InvalidParameter(std::string(what) + ": is not UTF-8");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      throw InvalidParameter(std::string(what) + ": contains a control character");
    }
  }
}

std::vector<std::int64_t> touched(const std::vector<Debit>& debits) {
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

void draw(ledger::Transaction& transaction, const Plan& plan, const ExactAnswer& exact,
          accounting::ChargeReceipt receipt, mechanisms::BitSource& bits) {
  std::vector<accounting::SealedRelease> sealed;
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const auto& mechanism = plan.mechanisms[i];
    sealed.push_back(mechanism.release(exact.values[i], receipt.split(mechanism.charged()), bits));
  }
  EPSILOG_INVARIANT(receipt.amount() == accounting::ApproximateLoss());
  transaction.attach(plan.record, std::move(sealed), plan.derivation.post_processing);
}

Prepared prepared(EngineState& state, ledger::Snapshot& view, std::shared_ptr<const AppliedPolicy> active,
                  const Request& request) {
  check_request(request);
  Prepared result;
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
  require_within_caps(request, result.canonical);
  result.dataset = &result.applied->policy.dataset(request.dataset);
  require_not_stated(*result.dataset, request.question);
  result.plan = state.plans.plan(*result.applied, request, result.canonical);
  require_satisfiable(*result.dataset, request.question);
  check_supplied(request, *result.plan);
  result.looks = judged_now(result, debits_where(view, result), key.conflict).outcome;
  if (reads_source(result)) result.location = view.location(request.dataset);
  return result;
}

std::optional<Prepared> prepared_ahead(EngineState& state, const Request& request) {
  Prepared result;
  result.applied = state.newest_policy();
  if (!result.applied) return std::nullopt;
  try {
    check_request(request);
    result.request = request;
    if (reads_source(result) && request.holding == Holding::none) return std::nullopt;
    result.canonical = canonical_request(request);
    result.plan = state.plans.known(result.applied->version.version, result.canonical);
    if (!result.plan) return std::nullopt;
    require_within_caps(request, result.canonical);
    result.dataset = &result.applied->policy.dataset(request.dataset);
    require_not_stated(*result.dataset, request.question);
    require_satisfiable(*result.dataset, request.question);
    check_supplied(request, *result.plan);
  } catch (const Error&) {
    return std::nullopt;
  }
  result.digest = ledger::sha256_hex(result.canonical);
  // What the supplied value says is taken down whether it is needed or not.
  if (request.supplied) result.looks = ledger::Outcome::granted;
  return result;
}

void answered(Prepared& request, const Progress& progress) {
  if (request.replay || request.looks != ledger::Outcome::granted) return;
  const Question& question = request.request.question;
  if (question.statistic.kind == StatisticKind::value) {
    request.exact = ExactAnswer{{{parse_supplied_value(
        *request.request.supplied, *request.dataset->query(question.statistic.subject))}}};
  } else {
    const auto answer_of = [&](const Dataset& dataset) {
      const std::string& base_dir = request.applied->version.base_dir;
      return opened_where_found(dataset, base_dir, [&] {
        return compute_exact_answer(dataset, question, request.plan->derivation, base_dir, progress);
      });
    };
    request.exact = request.location ? answer_of(relocated(*request.dataset, *request.location))
                                     : answer_of(*request.dataset);
  }
}

namespace {

/// What becomes of requests that turn out to be decided already: told here, or left to who prepares them
/// first, so that a replay writes nothing, not even that something else has expired.
enum class Replays { told, left };

/// transacted(), from a transaction on that began with ending what was overdue.
std::optional<std::vector<Answer>> transacted_in(EngineState& state, Begun begun,
                                                 std::span<const Prepared> requests,
                                                 mechanisms::BitSource* bits,
                                                 std::span<const Rational> alphas, Replays replays) {
  ledger::Ledger& ledger = state.writer();
  ledger::Transaction& transaction = begun.transaction;
  const std::int64_t active = transaction.active_policy_version();
  const bool calendar_held = transaction.calendar_held();
  std::vector<Recorded> outcomes;
  for (const Prepared& request : requests) {
    if (!request.replay && request.applied->version.version != active) return std::nullopt;
    const bool read = request.exact && reads_source(request);
    if (read && transaction.location(request.request.dataset) != request.location) return std::nullopt;
    outcomes.push_back(record(transaction, request, bits));
    if (outcomes.back().kind == Recorded::Kind::outdated) return std::nullopt;
    if (outcomes.back().kind == Recorded::Kind::replay && replays == Replays::left) return std::nullopt;
  }
  std::map<std::int64_t, ledger::StoredDecision> committed;  // by seq
  std::vector<std::int64_t> order;
  for (ledger::StoredDecision& stored : ledger.commit(std::move(transaction))) {
    order.push_back(stored.seq);
    committed.emplace(stored.seq, std::move(stored));
  }

  std::vector<Answer> answers;
  std::optional<ledger::Snapshot> view;  // only replays need one
  std::size_t written = begun.ended;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (outcomes[i].kind == Recorded::Kind::written) {
      answers.push_back(state.described(requests[i].request, *requests[i].plan, active, alphas));
      add_decision(answers.back(), committed.at(order[written++]), false);
      note_held_calendar(answers.back(), calendar_held);
    } else {
      if (!view) view.emplace(state.snapshot());
      // The key may have been bound earlier in this very transaction; what find_key saw then was not
      // yet durable, what commit returned is.
      const auto same = committed.find(outcomes[i].earlier->seq);
      answers.push_back(
          state.replayed(same != committed.end() ? same->second : *outcomes[i].earlier, *view, alphas));
    }
  }
  return answers;
}

/// Whoever cannot write may still be told what was decided earlier; whoever asks anew meets the same again.
std::optional<Begun> begun_if_possible(EngineState& state) {
  try {
    return begin_after_expiries_at_once(state);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::vector<Answer>> transacted(EngineState& state, std::span<const Prepared> requests,
                                              mechanisms::BitSource* bits, std::span<const Rational> alphas) {
  return transacted_in(state, begin_after_expiries(state), requests, bits, alphas, Replays::told);
}

std::optional<std::vector<Answer>> transacted_at_once(EngineState& state, std::span<const Request> requests,
                                                      mechanisms::BitSource* bits,
                                                      std::span<const Rational> alphas) {
  std::vector<Prepared> steps;
  steps.reserve(requests.size());
  for (const Request& request : requests) {
    std::optional<Prepared> step = prepared_ahead(state, request);
    if (!step) return std::nullopt;
    answered(*step, {});
    steps.push_back(std::move(*step));
  }
  std::optional<Begun> begun = begun_if_possible(state);
  if (!begun) return std::nullopt;
  return transacted_in(state, std::move(*begun), steps, bits, alphas, Replays::left);
}

}  // namespace epsilog::engine
