#include "decide.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using accounting::Delta;

constexpr const char* kEpsilon = accounting::EpsilonMeasure::name;
constexpr const char* kDelta = accounting::DeltaMeasure::name;

template <class T>
bool allows(const std::optional<std::vector<T>>& list, const T& wanted) {
  return !list || std::find(list->begin(), list->end(), wanted) != list->end();
}

Reason rule(RefusalCode code, std::string message) {
  Reason reason;
  reason.code = code;
  reason.message = std::move(message);
  return reason;
}

void check_allowed(const Dataset& dataset, const Question& question, std::vector<Reason>& reasons) {
  const StatisticKind kind = question.statistic.kind;
  if (!allows(dataset.allow.statistics, kind)) {
    reasons.push_back(rule(RefusalCode::statistic_not_allowed, "statistic '" + std::string(name(kind)) +
                                                                   "' is not among the statistics that '" +
                                                                   dataset.name + "' allows"));
  }
  const auto refuse_column = [&](const std::string& column, const char* use) {
    reasons.push_back(rule(RefusalCode::column_not_allowed,
                           "column '" + column + "' of '" + dataset.name + "' may not be " + use));
  };
  const bool of_column =
      kind == StatisticKind::sum || kind == StatisticKind::mean || kind == StatisticKind::variance;
  if (of_column && !allows(dataset.allow.columns, question.statistic.subject)) {
    refuse_column(question.statistic.subject, "aggregated");
  }
  if (question.by && !allows(dataset.allow.by, *question.by)) refuse_column(*question.by, "grouped by");
  if (!question.where) return;
  std::vector<std::string> refused;
  for (const Comparison& comparison : question.where->comparisons()) {
    const bool seen = std::find(refused.begin(), refused.end(), comparison.column) != refused.end();
    if (seen || allows(dataset.allow.where, comparison.column)) continue;
    refused.push_back(comparison.column);
    refuse_column(comparison.column, "used in a condition");
  }
}

Reason limit_reason(RefusalCode code, const std::string& what, const std::string& scope,
                    const std::string& measure, const accounting::Balance& balance, std::int64_t asked) {
  const accounting::FilterVerdict verdict = accounting::filter(balance, asked);
  const auto text = [&measure](std::int64_t units) { return amount_text(measure, units); };
  return {
      .code = code,
      .scope = scope,
      .measure = measure,
      .limit = text(balance.limit),
      .spent = text(balance.spent),
      .asked = text(asked),
      .over_by = text(verdict.over_by),
      .fits = text(verdict.fits),
      .message = what + ": limit " + text(balance.limit) + ", spent " + text(balance.spent) + ", asked " +
                 text(asked) + ", over by " + text(verdict.over_by) + "; at most " + text(verdict.fits) +
                 " fits",
  };
}

std::int64_t asked_of(const Plan& plan, const std::string& measure) {
  if (measure == kEpsilon) return plan.charged.epsilon.units();
  return measure == kDelta ? plan.charged.delta.units() : 0;
}

/// Whether the dataset's budget has a part for everything the plan loses.
bool expressible(const Dataset& dataset, const Plan& plan) {
  return plan.charged.pure() || dataset.budget.measure == Measure::approximate;
}

}  // namespace

std::string amount_text(const std::string& measure, std::int64_t units) {
  if (measure == kEpsilon) return Epsilon::from_units(units).text();
  if (measure == kDelta) return Delta::from_units(units).text();
  throw LedgerCorrupt("account: unknown measure '" + measure + "'");
}

Decision decide(const Dataset& dataset, const Request& request, const Plan& plan,
                const std::vector<ledger::AccountState>& accounts,
                const std::optional<KeyConflict>& conflict) {
  std::vector<Reason> reasons;
  check_allowed(dataset, request.question, reasons);
  if (conflict) {
    reasons.push_back(rule(RefusalCode::key_conflict, "key '" + conflict->key + "' is bound to decision " +
                                                          conflict->decision_id +
                                                          ", which asked something else"));
  }
  if (!expressible(dataset, plan)) {
    reasons.push_back(rule(RefusalCode::measure_not_expressible,
                           plan.record.mechanism + " loses (epsilon, delta), which the budget of dataset '" +
                               dataset.name + "' cannot express: its measure is " +
                               std::string(name(dataset.budget.measure))));
  }
  if (dataset.per_release && plan.charged.epsilon > *dataset.per_release) {
    reasons.push_back(limit_reason(
        RefusalCode::per_release_exceeded, "epsilon of one release of '" + dataset.name + "'", "per_release",
        kEpsilon, {.limit = dataset.per_release->units()}, plan.charged.epsilon.units()));
  }
  for (const ledger::AccountState& account : accounts) {
    const std::int64_t asked = asked_of(plan, account.measure);
    if (accounting::filter(account.balance, asked).granted) continue;
    // An account of a measure that the policy has given up holds nothing any more; that was said above.
    if (account.measure == kDelta && !expressible(dataset, plan)) continue;
    reasons.push_back(limit_reason(RefusalCode::dataset_budget_exceeded,
                                   account.measure + " budget of dataset '" + account.dataset + "'",
                                   account.scope, account.measure, account.balance, asked));
  }
  return Decision(std::move(reasons));
}

std::vector<ledger::Charge> charges(const Plan& plan, const std::vector<ledger::AccountState>& accounts) {
  std::vector<ledger::Charge> result;
  accounting::ApproximateLoss covered;
  for (const ledger::AccountState& account : accounts) {
    const std::int64_t asked = asked_of(plan, account.measure);
    if (asked == 0) continue;
    result.push_back({.account = account.id, .amount = asked});
    if (account.measure == kEpsilon) covered.epsilon = plan.charged.epsilon;
    if (account.measure == kDelta) covered.delta = plan.charged.delta;
  }
  if (covered.epsilon != plan.charged.epsilon) {
    throw LedgerCorrupt("no account carries the epsilon of this dataset");
  }
  if (covered.delta != plan.charged.delta) {
    throw LedgerCorrupt("no account carries the delta of this dataset");
  }
  return result;
}

}  // namespace epsilog::engine
