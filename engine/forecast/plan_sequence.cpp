#include <map>
#include <utility>

#include "access.hpp"
#include "budget_notes.hpp"
#include "canonical_request.hpp"
#include "condition.hpp"
#include "decide.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/ledger/digest.hpp"
#include "expiry.hpp"
#include "whole_answers.hpp"

namespace epsilog::engine {
namespace {

/// What a key was bound to by an earlier request of the sequence.
struct Bound {
  std::string digest;
  bool granted = false;
  RequestState state = RequestState::refused;
  std::vector<Reason> reasons;
};

}  // namespace

struct PlanSequence::State {
  explicit State(std::shared_ptr<EngineState> engine_state)
      : kept(std::move(engine_state)),
        engine(*kept),
        view(engine.snapshot()),
        applied(engine.active_policy(view)) {}

  /// The accounts asked, as they would stand.
  std::vector<Debit> standing(const std::vector<Ask>& asked) {
    std::vector<Ask> unseen;
    for (const Ask& ask : asked) {
      if (accounts.count(ask.account) == 0) unseen.push_back(ask);
    }
    for (const Debit& debit : debits(unseen, after_expiries(view, view.accounts(account_names(unseen))))) {
      accounts.emplace(debit.ask.account, debit.account);
    }
    std::vector<Debit> result;
    for (const Ask& ask : asked) result.push_back({ask, accounts.at(ask.account)});
    return result;
  }

  void debit(std::vector<Debit>& debits) {
    for (Debit& one : debits) {
      one.account.balance.spent += one.ask.amount;
      accounts.at(one.ask.account).balance = one.account.balance;
    }
  }

  std::shared_ptr<EngineState> kept;
  EngineState& engine;
  ledger::Snapshot view;
  std::shared_ptr<const AppliedPolicy> applied;
  std::map<ledger::AccountName, ledger::AccountState> accounts;  ///< touched, as they would stand
  std::map<std::pair<std::string, std::string>, Bound> keys;     ///< by principal and key
};

PlanSequence::PlanSequence(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlanSequence::PlanSequence(PlanSequence&&) noexcept = default;
PlanSequence::~PlanSequence() = default;

Answer PlanSequence::next(const Request& request, const Alphas& alphas) {
  State& state = *state_;
  const std::string canonical = canonical_request(request);
  const std::string digest = ledger::sha256_hex(canonical);
  const std::pair key(request.principal, request.key);
  const auto bound = request.key.empty() ? state.keys.end() : state.keys.find(key);
  std::optional<KeyConflict> conflict;
  if (bound != state.keys.end()) {
    if (bound->second.digest != digest) conflict = KeyConflict{request.key, "of an earlier row"};
  } else if (!request.key.empty()) {
    if (const auto earlier = state.view.find_key(request.principal, request.key)) {
      if (earlier->draft.request_digest == digest) {
        return state.engine.replayed(*earlier, state.view, alphas);
      }
      conflict = KeyConflict{request.key, earlier->id};
    }
  }
  require_within_caps(request, canonical);
  const Policy& policy = state.applied->policy;
  const Dataset& dataset = policy.dataset(request.dataset);
  require_not_stated(dataset, request.question);
  const auto plan = state.engine.plans.plan(*state.applied, request, canonical);
  require_satisfiable(dataset, request.question);
  Answer answer = state.engine.described(request, *plan, state.applied->version.version, alphas);
  answer.advice = mechanism_advice(dataset, request, *plan, alphas);
  std::vector<Debit> standing =
      state.standing(asks(policy, dataset, request, *plan, state.view.calendar_time()));
  if (bound != state.keys.end() && !conflict) {
    answer.granted = bound->second.granted;
    answer.state = bound->second.state;
    answer.reasons = bound->second.reasons;
    answer.replayed = true;
  } else {
    const Decision decision = decide(policy, dataset, request, *plan, standing, conflict);
    answer.granted = decision.granted();
    answer.state = foreseen(decision, request, *plan);
    answer.reasons = decision.reasons();
    // What waits for approvals debits nothing.
    if (answer.state == RequestState::granted) state.debit(standing);
    if (!request.key.empty() && !conflict) {
      state.keys.emplace(key, Bound{digest, answer.granted, answer.state, answer.reasons});
    }
  }
  answer.reasons_count = answer.reasons.size();
  note_held_calendar(answer, state.view.calendar_held_at().has_value());
  if (!closes_the_door(answer.reasons)) answer.accounts = account_states(standing);
  return answer;
}

std::vector<ledger::AccountState> PlanSequence::accounts() const {
  std::vector<ledger::AccountState> result;
  for (const auto& [name, account] : state_->accounts) result.push_back(account);
  return result;
}

PlanSequence Engine::plan_sequence() const {
  return PlanSequence(std::make_unique<PlanSequence::State>(state_.shared()));
}

}  // namespace epsilog::engine
