#include "later_policy.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "access.hpp"
#include "canonical_request.hpp"
#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

using ledger::ComponentRecord;

/// Where, in which measure and how much. All periods are one scope: a request that waits over midnight is
/// debited from the period of its decision.
std::set<std::tuple<std::string, std::string, std::int64_t>> charge_set(
    const std::vector<PlannedCharge>& planned_charges) {
  std::set<std::tuple<std::string, std::string, std::int64_t>> result;
  for (const PlannedCharge& charge : planned_charges) {
    result.emplace(named_period(charge.account.scope) ? "period" : charge.account.scope,
                   charge.account.measure, charge.amount);
  }
  return result;
}

bool same_sensitivity(const ComponentRecord& first, const ComponentRecord& second) {
  return first.sensitivity == second.sensitivity &&
         first.sensitivity_l2_squared == second.sensitivity_l2_squared;
}

template <class Same>
bool same_components(const Plan& first, const Plan& second, const Same& same) {
  const auto& components = first.derivation.components;
  const auto& others = second.derivation.components;
  return std::equal(components.begin(), components.end(), others.begin(), others.end(), same);
}

bool same_mechanism(const Plan& first, const Plan& second) {
  return first.record.mechanism == second.record.mechanism &&
         first.record.arithmetic == second.record.arithmetic;
}

/// What a quantile is selected among, of which a record has the step alone.
bool same_candidates(const Plan& first, const Plan& second) {
  return same_components(first, second, [](const Component& one, const Component& other) {
    if (!one.quantiles || !other.quantiles) return one.quantiles.has_value() == other.quantiles.has_value();
    return one.quantiles->candidates == other.quantiles->candidates &&
           one.quantiles->values == other.quantiles->values;
  });
}

bool same_counted(const Plan& first, const Plan& second) {
  return same_components(first, second, [](const Component& one, const Component& other) {
    return one.counted == other.counted;
  });
}

bool same_cells(const Plan& first, const Plan& second) {
  return first.record.cells == second.record.cells;
}

/// What is derived from a cell stands in no plan: that has the labels.
bool same_labels(const std::map<std::string, const LabelRule*>& first,
                 const std::map<std::string, const LabelRule*>& second) {
  const auto rule = [](const LabelRule& of) {
    return std::tie(of.from, of.bins, of.per, of.first_day, of.last_day, of.map, of.other);
  };
  return std::equal(
      first.begin(), first.end(), second.begin(), second.end(), [&rule](const auto& one, const auto& other) {
        const bool derived = one.second != nullptr && other.second != nullptr;
        return one.first == other.first &&
               (derived ? rule(*one.second) == rule(*other.second) : one.second == other.second);
      });
}

std::map<std::string, const LabelRule*> columns_of(const Dataset& dataset, const Request& request) {
  std::map<std::string, const LabelRule*> result;
  const auto add = [&](const std::string& name) {
    const Column* column = dataset.column(name);
    if (column != nullptr) result.emplace(name, column->derived ? &*column->derived : nullptr);
  };
  each_question(request, [&](const Request& asked) {
    for (const std::string& name : aggregated_columns(asked.question.statistic)) add(name);
    for (const std::string& name : asked.question.by) add(name);
    if (!asked.question.where) return;
    for (const Comparison& comparison : asked.question.where->comparisons()) add(comparison.column);
  });
  return result;
}

bool same_recipe(const Plan& first, const Plan& second) {
  return first.derivation.post_processing == second.derivation.post_processing;
}

}  // namespace

const Dataset* find_dataset(const Policy& policy, const std::string& name) {
  const auto& datasets = policy.datasets();
  const auto found = std::find_if(datasets.begin(), datasets.end(),
                                  [&name](const Dataset& dataset) { return dataset.name == name; });
  return found == datasets.end() ? nullptr : &*found;
}

Terms terms_under(const AppliedPolicy& applied, const Request& request, PlanCache& plans,
                  const std::string& calendar_time) {
  Terms terms;
  terms.applied = &applied;
  terms.dataset = find_dataset(applied.policy, request.dataset);
  if (terms.dataset == nullptr) return terms;
  try {
    terms.plan = plans.plan(applied, request, canonical_request(request));
  } catch (const InvalidParameter&) {
  } catch (const NotFound&) {
  } catch (const Underivable&) {
  }
  if (terms.plan)
    terms.planned_charges =
        planned_charges(applied.policy, *terms.dataset, request, *terms.plan, calendar_time);
  terms.columns = columns_of(*terms.dataset, request);
  return terms;
}

std::vector<std::string> plan_differences(const Terms& asked, const Terms& now) {
  EPSILOG_INVARIANT(asked.plan != nullptr);
  if (!now.plan) return {"whether it can be answered"};
  const ledger::ReleaseRecord& before = asked.plan->record;
  const ledger::ReleaseRecord& after = now.plan->record;
  std::vector<std::string> differing;
  const auto compare = [&differing](bool same, const char* part) {
    if (!same) differing.emplace_back(part);
  };
  const std::vector<const Plan*> first = parts_of(*asked.plan);
  const std::vector<const Plan*> second = parts_of(*now.plan);
  const auto compare_parts = [&](const auto& same, const char* part) {
    compare(std::equal(first.begin(), first.end(), second.begin(), second.end(),
                       [&same](const Plan* one, const Plan* other) { return same(*one, *other); }),
            part);
  };
  compare_parts(same_mechanism, "mechanism");
  const bool as_sensitive = std::equal(before.components.begin(), before.components.end(),
                                       after.components.begin(), after.components.end(), same_sensitivity);
  compare(as_sensitive, "sensitivity");
  compare(!as_sensitive || before.components == after.components, "parameters");
  compare_parts(same_candidates, "candidates");
  compare_parts(same_counted, "values that are counted");
  compare_parts(same_cells, "cells");
  compare(same_labels(asked.columns, now.columns), "labels");
  compare(before.unit == after.unit, "unit");
  compare(before.neighbours == after.neighbours, "neighbours");
  compare_parts(same_recipe, "post-processing");
  compare(charge_set(asked.planned_charges) == charge_set(now.planned_charges), "what is charged where");
  return differing;
}

std::optional<Reason> policy_changed_reason(const Terms& asked, const Terms& now) {
  if (asked.applied->version.version == now.applied->version.version) return std::nullopt;
  const std::vector<std::string> parts = plan_differences(asked, now);
  if (parts.empty()) return std::nullopt;
  Reason reason;
  reason.code = RefusalCode::policy_changed;
  reason.message = "policy version " + std::to_string(now.applied->version.version) +
                   " plans it otherwise than version " + std::to_string(asked.applied->version.version) +
                   ", under which it was asked: ";
  for (std::size_t i = 0; i < parts.size(); ++i) reason.message += (i == 0 ? "" : ", ") + parts[i];
  return reason;
}

bool still_allowed(const Policy& active, const Request& request) {
  const Dataset* dataset = find_dataset(active, request.dataset);
  return dataset != nullptr && access_reasons(active, *dataset, request).empty();
}

}  // namespace epsilog::engine
