#include "access.hpp"

#include <algorithm>
#include <iterator>

#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

template <class T>
bool contains(const std::vector<T>& list, const T& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

template <class T>
bool contains_any(const std::vector<T>& list, const std::vector<T>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&list](const T& one) { return contains(list, one); });
}

/// A list that is absent says nothing.
template <class T>
bool allows(const std::optional<std::vector<T>>& list, const T& wanted) {
  return !list || contains(*list, wanted);
}

Reason rule(RefusalCode code, std::string message) {
  Reason reason;
  reason.code = code;
  reason.message = std::move(message);
  return reason;
}

std::vector<std::string> roles_of(const Policy& policy, const std::string& name) {
  const Principal* principal = policy.principal(name);
  return principal != nullptr ? principal->roles : std::vector<std::string>();
}

/// The column, and the one that it is a function of: a question about the one is a question about the other.
std::vector<std::string> with_source(const Dataset& dataset, const std::string& column) {
  const std::string& source = dataset.read_from(column);
  return source == column ? std::vector{column} : std::vector{column, source};
}

/// The columns of the condition, each once, in the order written.
std::vector<std::string> compared_columns(const Question& question) {
  std::vector<std::string> columns;
  if (!question.where) return columns;
  for (const Comparison& comparison : question.where->comparisons()) {
    if (!contains(columns, comparison.column)) columns.push_back(comparison.column);
  }
  return columns;
}

std::optional<Reason> against_principal(const Policy& policy, const Dataset& dataset,
                                        const Request& request) {
  if (!policy.principals()) return std::nullopt;
  if (policy.principal(request.principal) == nullptr) {
    return rule(RefusalCode::principal_not_allowed,
                "'" + request.principal + "' is not among the principals that the policy declares");
  }
  if (may_ask(policy, dataset, request.principal)) return std::nullopt;
  return rule(RefusalCode::principal_not_allowed,
              "'" + request.principal + "' is not among those who may ask '" + dataset.name + "'");
}

std::optional<Reason> against_purpose(const Policy& policy, const Dataset& dataset, const Request& request) {
  const auto refuse = [](std::string message) {
    return rule(RefusalCode::purpose_not_allowed, std::move(message));
  };
  if (!dataset.purposes) {
    if (request.purpose.empty()) return std::nullopt;
    return refuse("'" + dataset.name + "' declares no purposes, so that none can be stated");
  }
  if (request.purpose.empty()) return refuse("'" + dataset.name + "' is asked for a stated purpose only");
  if (!contains(*dataset.purposes, request.purpose)) {
    return refuse("'" + request.purpose + "' is not among the purposes of '" + dataset.name + "'");
  }
  const Principal* principal = policy.principal(request.principal);
  if (principal == nullptr || allows(principal->purposes, request.purpose)) return std::nullopt;
  return refuse("'" + request.principal + "' may not ask for the purpose '" + request.purpose + "'");
}

/// A rule forbids when every list it has applies.
bool applies(const Forbid& forbid, const Policy& policy, const Dataset& dataset, const Request& request) {
  const Question& question = request.question;
  const auto any = [](const auto& list, const std::vector<std::string>& of_request) {
    return !list || contains_any(*list, of_request);
  };
  const auto read = [&](const std::vector<std::string>& columns) {
    std::vector<std::string> result;
    for (const std::string& column : columns) {
      for (std::string& one : with_source(dataset, column)) result.push_back(std::move(one));
    }
    return result;
  };
  return allows(forbid.principals, request.principal) &&
         any(forbid.roles, roles_of(policy, request.principal)) && allows(forbid.purposes, request.purpose) &&
         (!forbid.statistics || contains(*forbid.statistics, question.statistic.kind) ||
          contains(*forbid.statistics, required_permission(question, dataset.rows.exact))) &&
         any(forbid.columns, read(aggregated_columns(question.statistic))) &&
         any(forbid.by, read(question.by)) && any(forbid.where, read(compared_columns(question)));
}

void check_forbidden(const Policy& policy, const Dataset& dataset, const Request& request,
                     std::vector<Reason>& reasons) {
  for (std::size_t i = 0; i < dataset.forbid.size(); ++i) {
    if (!applies(dataset.forbid[i], policy, dataset, request)) continue;
    reasons.push_back(rule(RefusalCode::forbidden, "rule " + std::to_string(i + 1) + " under forbid of '" +
                                                       dataset.name + "' applies to this request"));
  }
}

void check_allowed(const Dataset& dataset, const Question& question, std::vector<Reason>& reasons) {
  const StatisticKind kind = required_permission(question, dataset.rows.exact);
  if (!permits(dataset.allow.statistics, kind)) {
    const std::string unnamed = dataset.allow.statistics == default_statistics()
                                    ? "; it is asked only where `allow.statistics` names it"
                                    : "";
    const std::string what =
        kind == StatisticKind::private_variance ? ", a variance over a private number of rows," : "";
    reasons.push_back(rule(RefusalCode::statistic_not_allowed,
                           "statistic '" + std::string(name(kind)) + "'" + what +
                               " is not among the statistics that '" + dataset.name + "' allows" + unnamed));
  }
  const auto refuse_column = [&](const std::string& column, const char* use) {
    reasons.push_back(rule(RefusalCode::column_not_allowed,
                           "column '" + column + "' of '" + dataset.name + "' may not be " + use));
  };
  const auto allows_column = [&](const std::optional<std::vector<std::string>>& list,
                                 const std::string& column) {
    return !list || contains_any(*list, with_source(dataset, column));
  };
  for (const std::string& column : aggregated_columns(question.statistic)) {
    if (!allows_column(dataset.allow.columns, column)) refuse_column(column, "aggregated");
  }
  for (const std::string& column : question.by) {
    if (!allows_column(dataset.allow.by, column)) refuse_column(column, "grouped by");
  }
  for (const std::string& column : compared_columns(question)) {
    if (!allows_column(dataset.allow.where, column)) refuse_column(column, "used in a condition");
  }
}

template <class Check>
void add_of_row(std::size_t row, const Check& check, std::vector<Reason>& reasons) {
  const std::size_t before = reasons.size();
  check(reasons);
  for (std::size_t i = before; i < reasons.size(); ++i) {
    reasons[i].row = row + 1;
    reasons[i].message = row_text(row) + reasons[i].message;
  }
}

}  // namespace

bool may_ask(const Policy& policy, const Dataset& dataset, const std::string& who) {
  if (!policy.principals()) return true;
  const Principal* principal = policy.principal(who);
  if (principal == nullptr) return false;
  const Allow& allow = dataset.allow;
  const bool by_name = allow.principals && contains(*allow.principals, who);
  const bool by_role = allow.roles && contains_any(*allow.roles, principal->roles);
  return (!allow.principals && !allow.roles) || by_name || by_role;
}

Request admitted_request(const Policy& policy, const Dataset& dataset, const Request& request) {
  if (request.unread) throw InvalidParameter("request: `unread` is what an engine says of it");
  if (may_ask(policy, dataset, request.principal)) return request;
  Request unread;
  unread.dataset = request.dataset;
  unread.principal = request.principal;
  unread.via = request.via;
  unread.unread = true;
  return unread;
}

std::vector<Reason> access_reasons(const Policy& policy, const Dataset& dataset, const Request& request) {
  if (auto reason = against_principal(policy, dataset, request)) return {std::move(*reason)};
  if (auto reason = against_purpose(policy, dataset, request)) return {std::move(*reason)};
  std::vector<Reason> forbidden;
  std::vector<Reason> not_allowed;
  if (request.rows.empty()) {
    check_forbidden(policy, dataset, request, forbidden);
    check_allowed(dataset, request.question, not_allowed);
  }
  for (std::size_t row = 0; row < request.rows.size(); ++row) {
    const Request asked = request_of_row(request, row);
    add_of_row(
        row, [&](auto& reasons) { check_forbidden(policy, dataset, asked, reasons); }, forbidden);
    add_of_row(
        row, [&](auto& reasons) { check_allowed(dataset, asked.question, reasons); }, not_allowed);
  }
  std::stable_sort(not_allowed.begin(), not_allowed.end(), [](const Reason& one, const Reason& other) {
    return one.code == RefusalCode::statistic_not_allowed && other.code != one.code;
  });
  std::move(not_allowed.begin(), not_allowed.end(), std::back_inserter(forbidden));
  return forbidden;
}

bool is_rule_refusal(RefusalCode code) {
  switch (code) {
    case RefusalCode::principal_not_allowed:
    case RefusalCode::purpose_not_allowed:
    case RefusalCode::forbidden:
    case RefusalCode::statistic_not_allowed:
    case RefusalCode::column_not_allowed:
      return true;
    default:
      return false;
  }
}

bool hides_balances(const std::vector<Reason>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(), [](const Reason& reason) {
    return reason.code == RefusalCode::principal_not_allowed ||
           reason.code == RefusalCode::purpose_not_allowed;
  });
}

}  // namespace epsilog::engine
