#include "epsilog/engine/request_visibility.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "access.hpp"
#include "later_policy.hpp"
#include "request_rules.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

template <class T>
bool contains(const std::vector<T>& list, const T& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

/// The name of the query whose value is handed in; nothing for a statistic that is computed here.
std::optional<std::string> value_of(const Answer& answer) {
  constexpr std::string_view kValue = "value:";
  const std::string& statistic = answer.asked.statistic;
  if (!statistic.starts_with(kValue)) return std::nullopt;
  return statistic.substr(kValue.size());
}

/// The query as the active policy declares it; nullptr where it declares none of that name.
const NamedQuery* declared_query(const Policy& active, const Answer& answer) {
  const auto name = value_of(answer);
  const Dataset* const dataset = name ? find_dataset(active, answer.asked.dataset) : nullptr;
  return dataset != nullptr ? dataset->query(*name) : nullptr;
}

bool supplies(const Policy& active, const std::string& who, const Answer& answer) {
  const NamedQuery* const query = declared_query(active, answer);
  return query != nullptr && query->supplied_by && contains(*query->supplied_by, who);
}

bool approves(const Policy& active, const std::string& who, const Answer& answer) {
  const Dataset* const dataset = find_dataset(active, answer.asked.dataset);
  return dataset != nullptr && answer.planned.approvals_required > 0 &&
         may_approve(active, *dataset, answer.asked.asker, who);
}

/// The token of who asked: what is computed here hands none out, and whom a query that is gone named nobody
/// knows.
bool token_is_askers(const Policy& active, const Answer& answer) {
  if (!value_of(answer)) return true;
  const NamedQuery* const query = declared_query(active, answer);
  return query != nullptr && !query->supplied_by;
}

bool oversees(const Policy& active, const Viewer& viewer) {
  return has_duty(active, viewer, Duty::curate) || has_duty(active, viewer, Duty::audit);
}

/// Whether a request of this principal is held to what the scope counts.
bool binds(const Principal& principal, const std::string& text) {
  const auto scope = parse_scope(text);
  if (!scope) return false;
  switch (scope->kind) {
    case Scope::Kind::principal:
      return scope->name == principal.name;
    case Scope::Kind::role:
      return contains(principal.roles, scope->name);
    case Scope::Kind::purpose:
      return !principal.purposes || contains(*principal.purposes, scope->name);
    case Scope::Kind::dataset:
    case Scope::Kind::period:
    case Scope::Kind::lifetime:
    case Scope::Kind::block:
      break;
  }
  return true;
}

/// Whether the reason says something of an account: its figures, or that there is one.
bool names_account(const Reason& reason) {
  switch (reason.code) {
    case RefusalCode::measure_not_expressible:
    case RefusalCode::dataset_budget_exceeded:
    case RefusalCode::lifetime_budget_exceeded:
    case RefusalCode::block_budget_exceeded:
    case RefusalCode::principal_limit_exceeded:
    case RefusalCode::role_limit_exceeded:
    case RefusalCode::purpose_limit_exceeded:
      return true;
    default:
      return false;
  }
}

bool sees_reason(const Policy& active, const Viewer& viewer, const std::string& dataset,
                 const Reason& reason) {
  return !names_account(reason) || sees_account(active, viewer, {dataset, reason.scope, reason.measure});
}

Reason without_figures(const Reason& reason) {
  Reason code_alone;
  code_alone.code = reason.code;
  code_alone.row = reason.row;
  code_alone.message = "an account whose balance you do not see does not hold it";
  return code_alone;
}

}  // namespace

bool has_duty(const Policy& active, const Viewer& viewer, Duty duty) {
  if (viewer.keeper) return true;
  const Principal* const principal = active.principal(viewer.name);
  return principal != nullptr && contains(principal->duties, duty);
}

Visibility visibility_of(const Policy& active, const Viewer& viewer, const Answer& answer) {
  if (!active.principals()) return {true, true, true, true, true, true};
  const bool asked = !viewer.keeper && answer.asked.asker == viewer.name;
  const bool hands_in = !viewer.keeper && supplies(active, viewer.name, answer);
  const bool agrees = !viewer.keeper && approves(active, viewer.name, answer);
  const bool audits = has_duty(active, viewer, Duty::audit);
  const bool curates = has_duty(active, viewer, Duty::curate);
  Visibility sight;
  sight.request = asked || hands_in || agrees || audits || curates;
  sight.values = asked || audits;
  sight.token = hands_in || (asked && token_is_askers(active, answer));
  sight.balances = audits || curates;
  sight.reasons = asked || audits || curates;
  sight.line = asked || audits || curates;
  return sight;
}

bool sees_account(const Policy& active, const Viewer& viewer, const ledger::AccountName& account) {
  if (!active.principals() || oversees(active, viewer)) return true;
  const Dataset* const dataset = find_dataset(active, account.dataset);
  const Principal* const principal = active.principal(viewer.name);
  return dataset != nullptr && principal != nullptr && may_ask(active, *dataset, viewer.name) &&
         binds(*principal, account.scope);
}

bool sees_dataset(const Policy& active, const Viewer& viewer, const std::string& dataset) {
  const Dataset* const declared = find_dataset(active, dataset);
  if (declared == nullptr) return false;
  return !active.principals() || oversees(active, viewer) ||
         (!viewer.keeper && may_ask(active, *declared, viewer.name));
}

bool lists_account(const Policy& active, const Viewer& viewer, const ledger::AccountName& account,
                   bool limited) {
  if (!active.principals() || oversees(active, viewer)) return true;
  return limited && sees_account(active, viewer, account);
}

std::string listed_asker(const Policy& active, const Viewer& viewer) {
  return !active.principals() || oversees(active, viewer) ? "" : viewer.name;
}

Answer redacted_answer(const Policy& active, const Viewer& viewer, Answer answer) {
  const Visibility sight = visibility_of(active, viewer, answer);
  if (!sight.values) withhold(answer);
  if (!sight.token) {
    answer.recorded.token.clear();
    answer.recorded.data_accessed_by.clear();
  }
  if (!sight.balances) {
    std::erase_if(answer.recorded.accounts,
                  [&](const auto& account) { return !sees_account(active, viewer, account.name()); });
  }
  if (sight.reasons) return answer;
  for (Reason& reason : answer.recorded.reasons) {
    if (!sees_reason(active, viewer, answer.asked.dataset, reason)) reason = without_figures(reason);
  }
  return answer;
}

LineVisibility line_visibility(const Policy& active, const Viewer& viewer, const Answer& answer,
                               const ledger::StoredDecision& line) {
  const Visibility sight = visibility_of(active, viewer, answer);
  const bool acted = !viewer.keeper && line.draft.principal == viewer.name;
  if (!sight.line && !acted) return LineVisibility::nothing;
  if (line.release && line.draft.outcome == ledger::Outcome::granted && !sight.values)
    return LineVisibility::hidden;
  const bool accounts =
      sight.balances || std::all_of(line.accounts.begin(), line.accounts.end(), [&](const auto& account) {
        return sees_account(active, viewer, account.name());
      });
  const Decision decision = parse_reasons(line.draft.reasons);
  const auto& reasons = decision.reasons();
  const bool told = sight.reasons || std::all_of(reasons.begin(), reasons.end(), [&](const Reason& reason) {
                      return sees_reason(active, viewer, answer.asked.dataset, reason);
                    });
  return accounts && told ? LineVisibility::whole : LineVisibility::hidden;
}

}  // namespace epsilog::engine
