#include "release_path.hpp"

#include <map>

#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kNameBytesMax = 256;

void check_name(const std::string& text, const char* what) {
  if (text.size() > kNameBytesMax) {
    throw InvalidParameter(std::string(what) + ": is longer than 256 bytes");
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      throw InvalidParameter(std::string(what) + ": contains a control character");
    }
  }
}

void check_request(const Request& request) {
  if (request.principal.empty()) throw InvalidParameter("principal: must not be empty");
  check_name(request.principal, "principal");
  check_name(request.key, "key");
  check_name(request.purpose, "purpose");
  if (request.epsilon <= 0) throw InvalidParameter("epsilon: must be positive");
  if (request.supplied && request.question.statistic.kind != StatisticKind::value) {
    throw InvalidParameter("value: only value:NAME takes a supplied value; '" +
                           request.question.statistic.text() + "' is computed from the data source");
  }
}

/// A supplied value is read before anything is recorded, so that a malformed one costs nothing.
void check_supplied(const Dataset& dataset, const Request& request) {
  if (request.question.statistic.kind != StatisticKind::value) return;
  if (!request.supplied) {
    throw InvalidParameter("value: '" + request.question.statistic.text() +
                           "' needs the value computed elsewhere");
  }
  (void)parse_supplied_value(*request.supplied, *dataset.query(request.question.statistic.subject));
}

/// The accounts a decision is stored with, of those that are there.
std::vector<std::int64_t> touched(const std::vector<Debit>& debits) {
  std::vector<std::int64_t> ids;
  for (const Debit& debit : debits) {
    if (debit.account.id != 0) ids.push_back(debit.account.id);
  }
  return ids;
}

ledger::DecisionDraft draft(const Prepared& prepared, const Decision& decision,
                            const std::vector<Debit>& debits, bool conflict) {
  ledger::DecisionDraft result;
  result.principal = prepared.request.principal;
  // The conflicting key stays bound to its first decision.
  result.key = conflict ? "" : prepared.request.key;
  result.request = conflict ? conflicting_request(prepared.request) : prepared.canonical;
  result.request_digest = conflict ? ledger::sha256_hex(result.request) : prepared.digest;
  result.dataset = prepared.request.dataset;
  result.policy_version = prepared.applied->version.version;
  result.outcome = decision.granted() ? ledger::Outcome::granted : ledger::Outcome::refused;
  result.reasons = reasons_json(decision.reasons());
  result.touched = touched(debits);
  return result;
}

/// What the request asks of each account, as it stands where `reader` looks.
template <class Reader>
std::vector<Debit> debits_of(Reader& reader, const Prepared& prepared) {
  const std::vector<Ask> asked = asks(prepared.applied->policy, *prepared.dataset, prepared.request,
                                      *prepared.plan, reader.calendar_time());
  return debits(asked, reader.accounts(account_names(asked)));
}

Decision decided(const Prepared& prepared, const std::vector<Debit>& debits,
                 const std::optional<KeyConflict>& conflict) {
  return decide(prepared.applied->policy, *prepared.dataset, prepared.request, *prepared.plan, debits,
                conflict);
}

/// Accounts that no list of the policy names are made by the first request that is granted.
void open_missing(ledger::Transaction& transaction, std::vector<Debit>& debits) {
  for (Debit& debit : debits) {
    if (debit.account.id == 0) debit.account = transaction.open_account(debit.account);
  }
}

/// plan + receipt -> release, still sealed.
void draw(ledger::Transaction& transaction, const Prepared& prepared, const Decision& decision,
          std::vector<Debit>& debits, mechanisms::BitSource& bits) {
  const Plan& plan = *prepared.plan;
  open_missing(transaction, debits);
  accounting::ChargeReceipt receipt =
      transaction.charge(draft(prepared, decision, debits, false), charges(debits), plan.charged);
  std::vector<accounting::SealedRelease> sealed;
  for (std::size_t i = 0; i < plan.mechanisms.size(); ++i) {
    const auto& mechanism = plan.mechanisms[i];
    sealed.push_back(mechanism.release(prepared.exact->values[i], receipt.split(mechanism.charged()), bits));
  }
  EPSILOG_INVARIANT(receipt.amount() == accounting::ApproximateLoss());
  transaction.attach(plan.record, std::move(sealed), plan.derivation.post_processing);
}

/// What became of one request inside the transaction.
struct Recorded {
  enum class Kind { replay, written, outdated } kind;
  std::optional<ledger::StoredDecision> earlier;  ///< for replay
};

Recorded record(ledger::Transaction& transaction, const Prepared& prepared, mechanisms::BitSource& bits) {
  if (prepared.replay) return {Recorded::Kind::replay, prepared.replay};
  std::optional<KeyConflict> conflict;
  if (!prepared.request.key.empty()) {
    auto earlier = transaction.find_key(prepared.request.principal, prepared.request.key);
    if (earlier && earlier->draft.request_digest == prepared.digest) {
      return {Recorded::Kind::replay, std::move(earlier)};
    }
    if (earlier) conflict = KeyConflict{prepared.request.key, earlier->id};
  }
  std::vector<Debit> debits = debits_of(transaction, prepared);
  const Decision decision = decided(prepared, debits, conflict);
  if (!decision.granted()) {
    transaction.refuse(draft(prepared, decision, debits, conflict.has_value()));
  } else if (prepared.exact) {
    draw(transaction, prepared, decision, debits, bits);
  } else {
    return {Recorded::Kind::outdated, std::nullopt};
  }
  return {Recorded::Kind::written, std::nullopt};
}

}  // namespace

Prepared prepared(Engine::State& state, ledger::Snapshot& view, std::shared_ptr<const AppliedPolicy> active,
                  const Request& request) {
  check_request(request);
  Prepared result;
  result.request = request;
  result.canonical = canonical_request(request);
  result.digest = ledger::sha256_hex(result.canonical);
  result.applied = std::move(active);
  // The key first: a retry is answered even if the policy no longer admits the question.
  std::optional<KeyConflict> conflict;
  if (!request.key.empty()) {
    if (auto earlier = view.find_key(request.principal, request.key)) {
      if (earlier->draft.request_digest == result.digest) {
        result.replay = std::move(earlier);
        return result;
      }
      conflict = KeyConflict{request.key, earlier->id};
    }
  }
  result.dataset = &result.applied->policy.dataset(request.dataset);
  result.plan = state.plans.plan(*result.applied, request, result.canonical);
  check_supplied(*result.dataset, request);
  result.looks_granted = decided(result, debits_of(view, result), conflict).granted();
  return result;
}

void answered(Prepared& request, const Progress& progress) {
  if (request.replay || !request.looks_granted) return;
  const Question& question = request.request.question;
  if (question.statistic.kind == StatisticKind::value) {
    request.exact = ExactAnswer{{{parse_supplied_value(
        *request.request.supplied, *request.dataset->query(question.statistic.subject))}}};
  } else {
    request.exact = compute_exact_answer(*request.dataset, question, request.plan->derivation,
                                         request.applied->version.base_dir, progress);
  }
}

std::optional<std::vector<Answer>> transacted(Engine::State& state, std::span<const Prepared> requests,
                                              mechanisms::BitSource& bits, std::span<const Rational> alphas) {
  ledger::Ledger& ledger = state.writer();
  ledger::Transaction transaction = ledger.begin();
  const std::int64_t active = transaction.active_policy_version();
  std::vector<Recorded> outcomes;
  for (const Prepared& request : requests) {
    if (!request.replay && request.applied->version.version != active) return std::nullopt;
    outcomes.push_back(record(transaction, request, bits));
    if (outcomes.back().kind == Recorded::Kind::outdated) return std::nullopt;
  }
  std::map<std::int64_t, ledger::StoredDecision> committed;  // by seq
  std::vector<std::int64_t> order;
  for (ledger::StoredDecision& stored : ledger.commit(std::move(transaction))) {
    order.push_back(stored.seq);
    committed.emplace(stored.seq, std::move(stored));
  }

  std::vector<Answer> answers;
  std::optional<ledger::Snapshot> view;  // only replays need one
  std::size_t written = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (outcomes[i].kind == Recorded::Kind::written) {
      answers.push_back(state.described(requests[i].request, *requests[i].plan, active, alphas));
      add_decision(answers.back(), committed.at(order[written++]), false);
    } else {
      if (!view) view.emplace(state.snapshot());
      // The key may have been bound earlier in this very transaction; what find_key saw then was not
      // yet durable, what commit returned is.
      const auto same = committed.find(outcomes[i].earlier->seq);
      answers.push_back(
          state.recalled(same != committed.end() ? same->second : *outcomes[i].earlier, *view, alphas));
      answers.back().replayed = true;
    }
  }
  return answers;
}

}  // namespace epsilog::engine
