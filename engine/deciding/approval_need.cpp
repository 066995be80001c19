#include "approval_need.hpp"

#include <algorithm>
#include <string_view>

#include "measure_limits.hpp"
#include "policy_values.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

/// What the request itself is charged there.
accounting::Integer requested_amount(const std::vector<PlannedCharge>& planned_charges,
                                     std::string_view scope, const std::string& measure) {
  const auto counts = [&](const PlannedCharge& charge) {
    const std::string& found = charge.account.scope;
    return charge.account.measure == measure &&
           (scope == "period" ? named_period(found).has_value() : found == scope);
  };
  const auto charge = std::find_if(planned_charges.begin(), planned_charges.end(), counts);
  if (charge == planned_charges.end()) return 0;
  return charge->too_large.value_or(accounting::Integer(charge->amount));
}

}  // namespace

ApprovalNeed approval_need(const Dataset& dataset, const Plan& plan, const std::string& asker,
                           const std::vector<PlannedCharge>& planned_charges, const ChargedBefore& before) {
  ApprovalNeed need{plan.approvals_required};
  if (!dataset.approvals || !dataset.approvals->above || dataset.approvals->within_seconds == 0) return need;
  for (const MeasureLimit& limit : measure_limits(*dataset.approvals->above)) {
    const std::string measure = limit.measure.text();
    const std::string scope(scope_of_all(dataset, limit.measure).value());
    const accounting::Integer lost =
        before({dataset.name, asker, scope, measure, dataset.approvals->within_seconds});
    const accounting::Integer asked = requested_amount(planned_charges, scope, measure);
    const bool above = lost + asked > limit.units;
    if (above) need.required = dataset.approvals->required;
    need.sums.push_back({.measure = measure,
                         .limit = amount_text(measure, limit.units),
                         .before = amount_text(measure, lost),
                         .asked = amount_text(measure, asked),
                         .seconds = dataset.approvals->within_seconds,
                         .window = duration_text(dataset.approvals->within_seconds),
                         .above = above});
  }
  return need;
}

}  // namespace epsilog::engine
