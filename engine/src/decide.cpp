#include "decide.hpp"

#include <algorithm>
#include <map>

#include "access.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"
#include "loss_amounts.hpp"

namespace epsilog::engine {
namespace {

constexpr const char* kEpsilon = accounting::EpsilonMeasure::name;

Reason limit_reason(RefusalCode code, const std::string& what, const std::string& scope,
                    const std::string& measure, const accounting::Balance& balance,
                    const accounting::Integer& asked) {
  const std::int64_t fits = balance.remaining();
  const accounting::Integer over_by = asked - fits;
  const auto text = [&measure](const accounting::Integer& units) { return amount_text(measure, units); };
  const std::string reserved = balance.reserved == 0 ? "" : text(balance.reserved);
  return {
      .code = code,
      .scope = scope,
      .measure = measure,
      .limit = text(balance.limit),
      .spent = text(balance.spent),
      .reserved = reserved,
      .asked = text(asked),
      .over_by = text(over_by),
      .fits = text(fits),
      .message = what + ": limit " + text(balance.limit) + ", spent " + text(balance.spent) +
                 (reserved.empty() ? "" : ", reserved " + reserved) + ", asked " + text(asked) +
                 ", over by " + text(over_by) + "; at most " + text(fits) + " fits",
  };
}

/// "epsilon budget of dataset 'clinic'", of the scope if it has one.
std::string subject_of(const ledger::AccountName& account) {
  return account.measure + " budget of dataset '" + account.dataset + "'" +
         (account.scope.empty() ? "" : ", " + account.scope);
}

/// One reason for each scope whose budget has no part for all that is lost, however many accounts it has.
void check_expressible(const Dataset& dataset, const Plan& plan, const std::vector<Debit>& debits,
                       std::vector<Reason>& reasons) {
  for (const Debit& debit : debits) {
    if (debit.ask.expressible) continue;
    const std::string& scope = debit.ask.account.scope;
    Reason reason;
    reason.code = RefusalCode::measure_not_expressible;
    reason.scope = scope;
    reason.message = plan.record.mechanism + " loses (epsilon, delta), which the budget of dataset '" +
                     dataset.name + "'" + (scope.empty() ? "" : ", " + scope + ",") +
                     " cannot express: its measure is " + std::string(name(Measure::pure));
    reasons.push_back(std::move(reason));
  }
}

void check_limits(const std::vector<Debit>& debits, std::vector<Reason>& reasons) {
  for (const Debit& debit : debits) {
    const accounting::Balance& balance = debit.account.balance;
    const Ask& ask = debit.ask;
    if (!ask.too_large && accounting::filter(balance, ask.amount).granted) continue;
    reasons.push_back(limit_reason(ask.code, subject_of(ask.account), ask.account.scope, ask.account.measure,
                                   balance, ask.too_large.value_or(accounting::Integer(ask.amount))));
  }
}

}  // namespace

std::vector<ledger::AccountName> account_names(const std::vector<Ask>& asks) {
  std::vector<ledger::AccountName> names;
  names.reserve(asks.size());
  for (const Ask& ask : asks) names.push_back(ask.account);
  return names;
}

std::vector<Debit> debits(const std::vector<Ask>& asks, const std::vector<ledger::AccountState>& present,
                          ledger::Rules rules) {
  std::map<ledger::AccountName, const ledger::AccountState*> by_name;
  for (const ledger::AccountState& account : present) {
    by_name[{account.dataset, account.scope, account.measure}] = &account;
  }
  std::vector<Debit> result;
  result.reserve(asks.size());
  for (const Ask& ask : asks) {
    const auto found = by_name.find(ask.account);
    if (found != by_name.end()) {
      result.push_back({ask, *found->second});
      accounting::Balance& balance = result.back().account.balance;
      if (rules >= ledger::Rules::joints && ask.limit < balance.limit) {
        balance.limit = std::max(ask.limit, balance.spent + balance.reserved);
      }
      continue;
    }
    ledger::AccountState fresh;
    fresh.dataset = ask.account.dataset;
    fresh.scope = ask.account.scope;
    fresh.measure = ask.account.measure;
    fresh.balance.limit = ask.limit;
    result.push_back({ask, std::move(fresh)});
  }
  return result;
}

std::vector<ledger::AccountState> account_states(const std::vector<Debit>& debits) {
  std::vector<ledger::AccountState> states;
  states.reserve(debits.size());
  for (const Debit& debit : debits) states.push_back(debit.account);
  return states;
}

Decision decide(const Policy& policy, const Dataset& dataset, const Request& request, const Plan& plan,
                const std::vector<Debit>& debits, const std::optional<KeyConflict>& conflict) {
  std::vector<Reason> reasons = access_reasons(policy, dataset, request);
  const bool closed = closes_the_door(reasons);
  if (conflict) {
    Reason reason;
    reason.code = RefusalCode::key_conflict;
    reason.message = "key '" + conflict->key + "' is bound to decision " + conflict->decision_id +
                     ", which asked something else";
    reasons.push_back(std::move(reason));
  }
  if (closed) return Decision(std::move(reasons));
  check_expressible(dataset, plan, debits, reasons);
  if (dataset.per_release && plan.charged.epsilon > *dataset.per_release) {
    reasons.push_back(limit_reason(
        RefusalCode::per_release_exceeded, "epsilon of one release of '" + dataset.name + "'", "per_release",
        kEpsilon, {.limit = dataset.per_release->units()}, plan.charged.epsilon.units()));
  }
  check_limits(debits, reasons);
  return Decision(std::move(reasons));
}

ledger::Outcome outcome_of(const Decision& decision, const Request& request, const Plan& plan) {
  if (!decision.granted()) return ledger::Outcome::refused;
  if (plan.approvals_required > 0) return ledger::Outcome::pending;
  return request.holding == Holding::none ? ledger::Outcome::granted : ledger::Outcome::reserved;
}

RequestState foreseen(const Decision& decision, const Request& request, const Plan& plan) {
  switch (outcome_of(decision, request, plan)) {
    case ledger::Outcome::granted:
      return RequestState::granted;
    case ledger::Outcome::reserved:
      return RequestState::reserved;
    case ledger::Outcome::pending:
      return RequestState::pending;
    default:
      return RequestState::refused;
  }
}

std::vector<ledger::Charge> charges(const std::vector<Debit>& debits) {
  std::vector<ledger::Charge> result;
  for (const Debit& debit : debits) {
    if (debit.ask.amount == 0) continue;
    EPSILOG_INVARIANT(debit.account.id != 0);
    result.push_back({.account = debit.account.id, .amount = debit.ask.amount});
  }
  return result;
}

}  // namespace epsilog::engine
