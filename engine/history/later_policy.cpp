#include "later_policy.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "access.hpp"
#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

using ledger::ComponentRecord;

/// Where, in which measure and how much. All periods are one scope: a request that waits over midnight is
/// debited from the period of its decision.
std::set<std::tuple<std::string, std::string, std::int64_t>> debited(const std::vector<Ask>& asks) {
  std::set<std::tuple<std::string, std::string, std::int64_t>> result;
  for (const Ask& ask : asks) {
    result.emplace(named_period(ask.account.scope) ? "period" : ask.account.scope, ask.account.measure,
                   ask.amount);
  }
  return result;
}

bool same_sensitivity(const ComponentRecord& first, const ComponentRecord& second) {
  return first.sensitivity == second.sensitivity &&
         first.sensitivity_l2_squared == second.sensitivity_l2_squared;
}

/// What a quantile is selected among, of which a record has the step alone.
bool same_candidates(const Component& first, const Component& second) {
  if (!first.quantiles || !second.quantiles)
    return first.quantiles.has_value() == second.quantiles.has_value();
  return first.quantiles->candidates == second.quantiles->candidates &&
         first.quantiles->values == second.quantiles->values;
}

bool same_recipe(const accounting::PostProcessing& first, const accounting::PostProcessing& second) {
  return first.kind == second.kind && first.centre == second.centre && first.lower == second.lower &&
         first.upper == second.upper;
}

}  // namespace

const Dataset* find_dataset(const Policy& policy, const std::string& name) {
  const auto& datasets = policy.datasets();
  const auto found = std::find_if(datasets.begin(), datasets.end(),
                                  [&name](const Dataset& dataset) { return dataset.name == name; });
  return found == datasets.end() ? nullptr : &*found;
}

Terms terms_under(const AppliedPolicy& applied, const Request& request, ledger::Rules rules, PlanCache& plans,
                  const std::string& calendar_time) {
  Terms terms;
  terms.applied = &applied;
  terms.dataset = find_dataset(applied.policy, request.dataset);
  if (terms.dataset == nullptr) return terms;
  try {
    terms.plan = plans.plan(applied, request, canonical_request(request), rules);
  } catch (const InvalidParameter&) {
  } catch (const NotFound&) {
  } catch (const Underivable&) {
  }
  if (terms.plan) terms.asks = asks(applied.policy, *terms.dataset, request, *terms.plan, calendar_time);
  return terms;
}

std::vector<std::string> planned_otherwise(const Terms& asked, const Terms& now) {
  EPSILOG_INVARIANT(asked.plan != nullptr);
  if (!now.plan) return {"whether it can be answered"};
  const ledger::ReleaseRecord& before = asked.plan->record;
  const ledger::ReleaseRecord& after = now.plan->record;
  std::vector<std::string> parts;
  const auto compare = [&parts](bool same, const char* part) {
    if (!same) parts.emplace_back(part);
  };
  compare(before.mechanism == after.mechanism && before.arithmetic == after.arithmetic, "mechanism");
  const bool as_sensitive = std::equal(before.components.begin(), before.components.end(),
                                       after.components.begin(), after.components.end(), same_sensitivity);
  compare(as_sensitive, "sensitivity");
  compare(!as_sensitive || before.components == after.components, "parameters");
  const auto& asked_components = asked.plan->derivation.components;
  const auto& components = now.plan->derivation.components;
  compare(std::equal(asked_components.begin(), asked_components.end(), components.begin(), components.end(),
                     same_candidates),
          "candidates");
  compare(
      std::equal(asked_components.begin(), asked_components.end(), components.begin(), components.end(),
                 [](const Component& one, const Component& other) { return one.counted == other.counted; }),
      "values that are counted");
  compare(before.cells == after.cells, "cells");
  compare(before.unit == after.unit, "unit");
  compare(before.relation == after.relation, "neighbours");
  compare(same_recipe(asked.plan->derivation.post_processing, now.plan->derivation.post_processing),
          "post-processing");
  compare(debited(asked.asks) == debited(now.asks), "what is charged where");
  return parts;
}

std::optional<Reason> policy_changed(const Terms& asked, const Terms& now) {
  if (asked.applied->version.version == now.applied->version.version) return std::nullopt;
  const std::vector<std::string> parts = planned_otherwise(asked, now);
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
