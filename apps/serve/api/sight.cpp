#include "sight.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "access.hpp"
#include "epsilog/accounting/errors.hpp"
#include "request_rules.hpp"

namespace epsilog::serve {
namespace {

using engine::Duty;

const engine::Dataset* declared(const Caller& caller, const std::string& name) {
  const auto& datasets = caller.view->policy.datasets();
  const auto at = std::find_if(datasets.begin(), datasets.end(),
                               [&](const auto& dataset) { return dataset.name == name; });
  return at == datasets.end() ? nullptr : &*at;
}

/// The question of the answer again, as far as it says who may act; nothing where its dataset is not
/// declared.
std::optional<engine::Request> request_of(const Caller& caller, const engine::Answer& answer) {
  if (declared(caller, answer.asked.dataset) == nullptr) return std::nullopt;
  engine::Request request;
  request.dataset = answer.asked.dataset;
  if (answer.rows.empty())
    request.question = engine::parse_question(answer.asked.statistic, std::nullopt, std::nullopt);
  request.principal = answer.asked.asker;
  return request;
}

bool approves(const Caller& caller, const engine::Answer& answer) {
  const engine::Dataset* dataset = declared(caller, answer.asked.dataset);
  return dataset != nullptr && answer.planned.approvals_required > 0 &&
         engine::may_approve(caller.view->policy, *dataset, answer.asked.asker, caller.who.name);
}

/// Of a value computed elsewhere: one of those who alone post it.
bool supplies(const Caller& caller, const engine::Answer& answer) {
  const auto request = request_of(caller, answer);
  const std::vector<std::string>* who =
      request ? engine::suppliers_of(caller.view->policy, *request) : nullptr;
  return who != nullptr && std::find(who->begin(), who->end(), caller.who.name) != who->end();
}

bool asked_it(const Caller& caller, const engine::Answer& answer) {
  return !caller.keeper() && answer.asked.asker == caller.who.name;
}

/// Whether what the account counts is what a request of this principal would be held to.
bool binds(const engine::Principal& principal, const std::string& scope) {
  const auto of = [&](std::string_view kind) { return scope.starts_with(kind); };
  const auto name = [&] { return scope.substr(scope.find(':') + 1); };
  if (of("principal:")) return name() == principal.name;
  if (of("role:")) {
    return std::find(principal.roles.begin(), principal.roles.end(), name()) != principal.roles.end();
  }
  if (of("purpose:") && principal.purposes) {
    return std::find(principal.purposes->begin(), principal.purposes->end(), name()) !=
           principal.purposes->end();
  }
  return true;
}

bool oversees(const Caller& caller) {
  return caller.has(Duty::curate) || caller.has(Duty::audit);
}

}  // namespace

Sight sight(const Caller& caller, const engine::Answer& answer) {
  if (asked_it(caller, answer) || caller.has(Duty::audit)) return Sight::whole;
  if (caller.has(Duty::curate) || approves(caller, answer) || supplies(caller, answer))
    return Sight::without_values;
  return Sight::nothing;
}

std::optional<engine::Answer> seen(const Caller& caller, engine::Answer answer) {
  const Sight sees = sight(caller, answer);
  if (sees == Sight::nothing) return std::nullopt;
  if (sees == Sight::without_values) engine::withhold(answer);
  if (!asked_it(caller, answer) && !supplies(caller, answer)) answer.recorded.token.clear();
  return answer;
}

std::vector<engine::BudgetAccount> seen(const Caller& caller, std::vector<engine::BudgetAccount> accounts) {
  if (oversees(caller)) return accounts;
  std::erase_if(accounts, [&](const engine::BudgetAccount& account) {
    const engine::Dataset* dataset = declared(caller, account.dataset);
    return !account.active || dataset == nullptr ||
           !engine::may_ask(caller.view->policy, *dataset, caller.who.name) ||
           !binds(*caller.principal, account.scope);
  });
  return accounts;
}

LineSight line_sight(const Caller& caller, const engine::Answer& answer, const ledger::StoredDecision& line) {
  if (caller.has(Duty::audit)) return LineSight::whole;
  const bool asked = asked_it(caller, answer);
  const bool acted = !caller.keeper() && line.draft.principal == caller.who.name;
  if (!asked && !acted && !caller.has(Duty::curate)) return LineSight::nothing;
  // Of what was released a line says the values, which are for who asked.
  if (line.release && line.draft.outcome == ledger::Outcome::granted && !asked) return LineSight::hidden;
  std::vector<engine::BudgetAccount> accounts;
  for (const ledger::AccountState& account : line.accounts) accounts.push_back({account});
  const std::size_t named = accounts.size();
  return seen(caller, std::move(accounts)).size() == named ? LineSight::whole : LineSight::hidden;
}

bool may_commit(const Caller& caller, const engine::Answer& answer) {
  const auto request = request_of(caller, answer);
  return request && engine::may_post(caller.view->policy, *request, caller.who.name);
}

bool knows(const Caller& caller, const std::string& name) {
  const engine::Dataset* dataset = declared(caller, name);
  return dataset != nullptr &&
         (oversees(caller) || engine::may_ask(caller.view->policy, *dataset, caller.who.name));
}

void require_dataset(const Caller& caller, const std::string& name) {
  if (!knows(caller, name)) throw NotFound("dataset '" + name + "': there is none of that name for you");
}

}  // namespace epsilog::serve
