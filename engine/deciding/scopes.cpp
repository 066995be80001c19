#include "scopes.hpp"

#include <algorithm>
#include <tuple>

#include "blocks.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "loss_amounts.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

Scope::Kind kind_of(Limit::Subject subject) {
  switch (subject) {
    case Limit::Subject::principal:
      return Scope::Kind::principal;
    case Limit::Subject::role:
      return Scope::Kind::role;
    case Limit::Subject::purpose:
      return Scope::Kind::purpose;
  }
  EPSILOG_INVARIANT(false);
}

RefusalCode code_of(Limit::Subject subject) {
  switch (subject) {
    case Limit::Subject::principal:
      return RefusalCode::principal_limit_exceeded;
    case Limit::Subject::role:
      return RefusalCode::role_limit_exceeded;
    case Limit::Subject::purpose:
      return RefusalCode::purpose_limit_exceeded;
  }
  EPSILOG_INVARIANT(false);
}

/// The budgets that limit one principal, role or purpose: those that name it, else those of each.
std::vector<const Budget*> limits_on(const Dataset& dataset, Limit::Subject subject,
                                     const std::string& name) {
  std::vector<const Budget*> own;
  std::vector<const Budget*> of_each;
  for (const Limit& limit : dataset.limits) {
    if (limit.subject != subject) continue;
    if (limit.name == name) own.push_back(&limit.budget);
    if (limit.name.empty()) of_each.push_back(&limit.budget);
  }
  return own.empty() ? of_each : own;
}

std::vector<std::string> declared_roles(const Policy& policy) {
  std::vector<std::string> roles;
  if (!policy.principals()) return roles;
  for (const Principal& principal : *policy.principals()) {
    roles.insert(roles.end(), principal.roles.begin(), principal.roles.end());
  }
  std::sort(roles.begin(), roles.end());
  roles.erase(std::unique(roles.begin(), roles.end()), roles.end());
  return roles;
}

/// A budget that limits one asker, and as whom.
struct AskerBudget {
  Limit::Subject subject;
  std::string name;
  const Budget* budget;
};

/// Of the principal, of its roles, of the purpose.
std::vector<AskerBudget> asker_budgets(const Policy& policy, const Dataset& dataset,
                                       const std::string& principal, const std::string& purpose) {
  std::vector<AskerBudget> budgets;
  const auto add = [&](Limit::Subject subject, const std::string& name) {
    for (const Budget* budget : limits_on(dataset, subject, name)) budgets.push_back({subject, name, budget});
  };
  add(Limit::Subject::principal, principal);
  if (const Principal* declared = policy.principal(principal)) {
    for (const std::string& role : declared->roles) add(Limit::Subject::role, role);
  }
  if (!purpose.empty()) add(Limit::Subject::purpose, purpose);
  return budgets;
}

/// What its mechanisms cost by the sum.
accounting::ApproximateLoss sum_of(const Plan& plan) {
  return plan.composed ? plan.composed->sum() : plan.charged;
}

/// Draws that are charged as one are so where epsilon and delta are counted, and by their sums elsewhere.
accounting::Integer amount_of(const PlanCost& cost, const Budget& budget, const AccountMeasure& measure) {
  if (!cost.composed || budget.measure != Measure::approximate) return cost.amounts.at(measure);
  const accounting::ApproximateLoss& charge = cost.composed->charge();
  EPSILOG_INVARIANT(measure.kind == AccountMeasure::Kind::epsilon ||
                    measure.kind == AccountMeasure::Kind::delta);
  return measure.kind == AccountMeasure::Kind::delta ? accounting::Integer(charge.delta.units())
                                                     : accounting::Integer(charge.epsilon.units());
}

/// Collects what one request asks.
class ChargeCollector {
 public:
  ChargeCollector(const Dataset& dataset, const Plan& plan) : dataset_(dataset), plan_(plan) {}

  void of(const Scope& scope, const Budget& budget, RefusalCode code) {
    of(scope, budget, code, {sum_of(plan_), plan_.amounts, plan_.composed});
  }
  void of_block(std::size_t block, RefusalCode code) {
    const Scope scope{Scope::Kind::block, plan_.blocks[block]};
    if (plan_.block_costs.empty()) return of(scope, dataset_.budget, code);
    of(scope, dataset_.budget, code, plan_.block_costs[block]);
  }
  [[nodiscard]] std::vector<PlannedCharge> take() { return std::move(charges_); }

 private:
  void of(const Scope& scope, const Budget& budget, RefusalCode code, const PlanCost& cost) {
    const bool expressible = expresses(budget, cost.sum);
    for (const MeasureLimit& limit : measure_limits(budget)) {
      const accounting::Integer amount = amount_of(cost, budget, limit.measure);
      const bool too_large = amount > accounting::Integer(accounting::kUnitsMax);
      charges_.push_back({.account = {dataset_.name, scope.text(), limit.measure.text()},
                          .measure = limit.measure,
                          .limit = limit.units,
                          .amount = too_large ? accounting::kUnitsMax : amount.get_si(),
                          .too_large = too_large ? std::optional(amount) : std::nullopt,
                          .expressible = expressible,
                          .code = code});
    }
  }

  const Dataset& dataset_;
  const Plan& plan_;
  std::vector<PlannedCharge> charges_;
};

void add_account(std::vector<ledger::AccountState>& accounts, const Dataset& dataset, const Scope& scope,
                 const Budget& budget) {
  for (const MeasureLimit& limit : measure_limits(budget)) {
    ledger::AccountState account;
    account.dataset = dataset.name;
    account.scope = scope.text();
    account.measure = limit.measure.text();
    account.balance.limit = limit.units;
    accounts.push_back(std::move(account));
  }
}

void add_subjects(std::vector<ledger::AccountState>& accounts, const Dataset& dataset, Limit::Subject subject,
                  const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const Budget* budget : limits_on(dataset, subject, name)) {
      add_account(accounts, dataset, {kind_of(subject), name}, *budget);
    }
  }
}

/// The names that limits of principals apply to, as far as they can be listed.
std::vector<std::string> listed_principals(const Policy& policy, const Dataset& dataset) {
  std::vector<std::string> names;
  if (policy.principals()) {
    for (const Principal& principal : *policy.principals()) names.push_back(principal.name);
    return names;
  }
  for (const Limit& limit : dataset.limits) {
    const bool one = limit.subject == Limit::Subject::principal && !limit.name.empty();
    if (one && std::find(names.begin(), names.end(), limit.name) == names.end()) names.push_back(limit.name);
  }
  return names;
}

std::vector<ledger::AccountState> declared_accounts_of(const Policy& policy, const Dataset& dataset) {
  std::vector<ledger::AccountState> accounts;
  if (dataset.blocks) {
    for (const std::string& block : block_names(dataset)) {
      add_account(accounts, dataset, {Scope::Kind::block, block}, dataset.budget);
    }
  } else if (!dataset.renews) {
    add_account(accounts, dataset, Scope{}, dataset.budget);
  }
  if (dataset.lifetime) add_account(accounts, dataset, {Scope::Kind::lifetime}, *dataset.lifetime);
  add_subjects(accounts, dataset, Limit::Subject::principal, listed_principals(policy, dataset));
  add_subjects(accounts, dataset, Limit::Subject::role, declared_roles(policy));
  add_subjects(accounts, dataset, Limit::Subject::purpose,
               dataset.purposes.value_or(std::vector<std::string>()));
  return accounts;
}

std::optional<std::int64_t> limit_in(const std::vector<const Budget*>& budgets, const std::string& measure) {
  for (const Budget* budget : budgets) {
    for (const MeasureLimit& limit : measure_limits(*budget)) {
      if (limit.measure.text() == measure) return limit.units;
    }
  }
  return std::nullopt;
}

/// The budgets of a scope that declared_accounts() cannot list; none for any other.
std::vector<const Budget*> unlisted_budgets(const Policy& policy, const Dataset& dataset,
                                            const std::string& account_scope) {
  const auto scope = parse_scope(account_scope);
  if (!scope) return {};
  if (scope->kind == Scope::Kind::period) {
    return dataset.renews ? std::vector{&dataset.budget} : std::vector<const Budget*>{};
  }
  if (scope->kind != Scope::Kind::principal || policy.principals()) return {};
  return limits_on(dataset, Limit::Subject::principal, scope->name);
}

}  // namespace

std::vector<PlannedCharge> planned_charges(const Policy& policy, const Dataset& dataset,
                                           const Request& request, const Plan& plan,
                                           const std::string& calendar_time) {
  if (request.unread) return {};
  ChargeCollector asking(dataset, plan);
  if (dataset.blocks) {
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
      asking.of_block(i, RefusalCode::block_budget_exceeded);
    }
  } else {
    asking.of(dataset.renews ? Scope{Scope::Kind::period, current_period(dataset, calendar_time)} : Scope{},
              dataset.budget, RefusalCode::dataset_budget_exceeded);
  }
  if (dataset.lifetime) {
    asking.of({Scope::Kind::lifetime}, *dataset.lifetime, RefusalCode::lifetime_budget_exceeded);
  }
  for (const AskerBudget& one : asker_budgets(policy, dataset, request.principal, request.purpose)) {
    asking.of({kind_of(one.subject), one.name}, *one.budget, code_of(one.subject));
  }
  return asking.take();
}

std::vector<const Budget*> budgets_of(const Policy& policy, const Dataset& dataset,
                                      const std::string& principal, const std::string& purpose) {
  std::vector<const Budget*> budgets = {&dataset.budget};
  if (dataset.lifetime) budgets.push_back(&*dataset.lifetime);
  for (const AskerBudget& one : asker_budgets(policy, dataset, principal, purpose)) {
    budgets.push_back(one.budget);
  }
  return budgets;
}

std::vector<ledger::AccountState> declared_accounts(const Policy& policy) {
  std::vector<ledger::AccountState> wanted;
  for (const Dataset& dataset : policy.datasets()) {
    for (ledger::AccountState& account : declared_accounts_of(policy, dataset)) {
      wanted.push_back(std::move(account));
    }
  }
  std::sort(wanted.begin(), wanted.end(), [](const auto& first, const auto& second) {
    return std::tie(first.dataset, first.scope, first.measure) <
           std::tie(second.dataset, second.scope, second.measure);
  });
  return wanted;
}

LimitsAfter::LimitsAfter(const Policy& policy, std::string calendar_time)
    : policy_(policy), calendar_time_(std::move(calendar_time)), listed_(declared_accounts(policy)) {}

const ledger::AccountState* LimitsAfter::find(const ledger::AccountName& account) const {
  const auto found = std::lower_bound(listed_.begin(), listed_.end(), account,
                                      [](const auto& state, const ledger::AccountName& wanted) {
                                        return std::tie(state.dataset, state.scope, state.measure) <
                                               std::tie(wanted.dataset, wanted.scope, wanted.measure);
                                      });
  return found != listed_.end() && found->name() == account ? &*found : nullptr;
}

bool LimitsAfter::lists(const ledger::AccountName& account) const {
  return find(account) != nullptr;
}

std::optional<std::int64_t> LimitsAfter::of(const ledger::AccountName& account,
                                            const accounting::Balance& balance) const {
  if (const ledger::AccountState* const listed = find(account)) return listed->balance.limit;
  for (const Dataset& dataset : policy_.datasets()) {
    if (dataset.name != account.dataset) continue;
    const auto scope = parse_scope(account.scope);
    const bool renewed = dataset.renews && scope && scope->kind == Scope::Kind::period;
    if (renewed && scope->name != current_period(dataset, calendar_time_)) return balance.limit;
    return limit_in(unlisted_budgets(policy_, dataset, account.scope), account.measure);
  }
  return std::nullopt;
}

std::string current_period(const Dataset& dataset, const std::string& instant) {
  EPSILOG_INVARIANT(dataset.renews.has_value());
  return period_name(*dataset.renews, ledger::parse_time(instant) / ledger::kMsOfDay);
}

void add_current_periods(const Policy& policy, const std::string& dataset, const std::string& calendar_time,
                         std::vector<ledger::AccountState>& accounts) {
  for (const Dataset& declared : policy.datasets()) {
    if (!declared.renews || (!dataset.empty() && declared.name != dataset)) continue;
    const Scope current{Scope::Kind::period, current_period(declared, calendar_time)};
    const bool opened = std::any_of(accounts.begin(), accounts.end(), [&](const auto& account) {
      return account.dataset == declared.name && account.scope == current.text();
    });
    if (!opened) add_account(accounts, declared, current, declared.budget);
  }
}

}  // namespace epsilog::engine
