#include <array>
#include <map>
#include <utility>

#include "access.hpp"
#include "budget_notes.hpp"
#include "canonical_request.hpp"
#include "charged_before.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/ledger/digest.hpp"
#include "expiry.hpp"
#include "idempotency.hpp"
#include "judgement.hpp"
#include "plan_advice.hpp"
#include "question_checks.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

/// What a key was bound to by an earlier request of the sequence.
struct BoundKey {
  std::string digest;
  Judgement judgement;
};

}  // namespace

struct PlanSequence::State {
  explicit State(std::shared_ptr<EngineState> engine_state)
      : kept(std::move(engine_state)),
        engine(*kept),
        view(engine.snapshot()),
        applied(engine.active_policy(view)) {}

  /// What is asked of accounts, as they would stand.
  std::vector<Debit> debits_now(const PlannedRequest& planned) {
    const auto present = [this](const std::vector<ledger::AccountName>& names) {
      std::vector<ledger::AccountName> unseen;
      std::vector<ledger::AccountState> seen;
      for (const ledger::AccountName& name : names) {
        const auto found = accounts.find(name);
        if (found == accounts.end()) unseen.push_back(name);
        if (found != accounts.end()) seen.push_back(found->second);
      }
      std::vector<ledger::AccountState> result = accounts_after_expiries(view, view.accounts(unseen));
      result.insert(result.end(), seen.begin(), seen.end());
      return result;
    };
    std::vector<Debit> debits = debits_of(planned, view.calendar_time(), present);
    for (const Debit& debit : debits) accounts.emplace(debit.charge.account, debit.account);
    return debits;
  }

  void debit(const std::string& asker, std::vector<Debit>& debits) {
    for (Debit& one : debits) {
      one.account.balance.spent += one.charge.amount;
      accounts.at(one.charge.account).balance = one.account.balance;
      const bool of_period = named_period(one.charge.account.scope).has_value();
      charged[{asker, one.charge.account.dataset, of_period ? "period" : one.charge.account.scope,
               one.charge.account.measure}] += one.charge.amount;
    }
  }

  /// What was charged before, by the ledger and by the sequence so far.
  accounting::Integer charged_so_far(const ledger::ChargeWindow& window) {
    return charged_before(view, window) +
           charged[{window.principal, window.dataset, window.scope, window.measure}];
  }

  std::shared_ptr<EngineState> kept;
  EngineState& engine;
  ledger::Snapshot view;
  std::shared_ptr<const AppliedPolicy> applied;
  std::map<ledger::AccountName, ledger::AccountState> accounts;  ///< touched, as they would stand
  /// By the sequence; by who asks, dataset, scope as an ChargeWindow has it, and measure.
  std::map<std::array<std::string, 4>, accounting::Integer> charged;
  std::map<std::pair<std::string, std::string>, BoundKey> keys;  ///< by principal and key
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
  const bool bound_here = bound != state.keys.end();
  const bool replayed_here = bound_here && bound->second.digest == digest;
  KeyBinding binding;
  if (!bound_here) binding = key_binding(state.view, request, digest);
  if (bound_here && !replayed_here) binding.conflict = KeyConflict{request.key, "of an earlier row"};
  if (binding.replay) return state.engine.replay_answer(*binding.replay, state.view, alphas);
  const Policy& policy = state.applied->policy;
  const Dataset& dataset = state.engine.requested_dataset(policy, request);
  const Request admitted = admitted_request(policy, dataset, request);
  if (admitted.unread) return state.engine.access_refusal(*state.applied, dataset, admitted);
  require_within_caps(request, canonical);
  require_askable(dataset, request);
  const auto plan = state.engine.plans.plan(*state.applied, request, canonical);
  require_answerable(dataset, request, *plan);
  Answer answer = state.engine.answer_from_plan(request, plan, state.applied->version.version, alphas);
  answer.planned.advice = plan_advice(dataset, request, *plan, alphas);
  const PlannedRequest planned{policy, dataset, request, *plan};
  std::vector<Debit> standing = state.debits_now(planned);
  Judgement judgement;
  if (replayed_here) {
    judgement = bound->second.judgement;
    answer.recorded.replayed = true;
  } else {
    const auto before = [&state](const ledger::ChargeWindow& window) { return state.charged_so_far(window); };
    judgement = judge(planned, standing, before, binding.conflict);
    // What waits for approvals debits nothing.
    if (judgement.outcome == ledger::Outcome::granted) state.debit(request.principal, standing);
    if (!request.key.empty() && !binding.conflict) state.keys.emplace(key, BoundKey{digest, judgement});
  }
  add_judgement(answer, judgement, standing);
  note_held_calendar(answer, state.view.calendar_held_at().has_value());
  return answer;
}

std::vector<ledger::AccountState> PlanSequence::accounts() const {
  std::vector<ledger::AccountState> result;
  for (const auto& [name, account] : state_->accounts) result.push_back(account);
  return result;
}

PlanSequence Asking::plan_sequence() const {
  return PlanSequence(std::make_unique<PlanSequence::State>(state_.shared()));
}

}  // namespace epsilog::engine
