#include "loss_caps.hpp"

#include <algorithm>

#include "epsilog/accounting/bounded_sum.hpp"
#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using Kind = AccountMeasure::Kind;

/// What is above a cap may be beyond every grid.
template <class Quantity>
std::int64_t units_up(const Rational& value) {
  if (value > Quantity::from_units(accounting::kUnitsMax).rational()) return accounting::kUnitsMax;
  return Quantity::from_rational_up(value).units();
}

template <class LossOf>
Rational total_up(const std::vector<ComponentMechanism>& mechanisms, LossOf loss_of) {
  std::vector<Rational> terms;
  terms.reserve(mechanisms.size());
  for (const ComponentMechanism& mechanism : mechanisms) terms.push_back(loss_of(mechanism.loss_facts()));
  return accounting::sum_up(terms);
}

bool has_budget_of(const Dataset& dataset, Measure measure) {
  const auto is = [measure](const Budget& budget) { return budget.measure == measure; };
  return is(dataset.budget) || (dataset.lifetime && is(*dataset.lifetime)) ||
         std::any_of(dataset.limits.begin(), dataset.limits.end(),
                     [&](const Limit& limit) { return is(limit.budget); });
}

}  // namespace

std::vector<CapExceeded> exceeded_caps(const LossCap& cap, const accounting::ApproximateLoss& charged,
                                       const std::vector<ComponentMechanism>& mechanisms) {
  std::vector<CapExceeded> result;
  const auto compare = [&result](AccountMeasure measure, std::int64_t limit, std::int64_t asked) {
    if (asked > limit) result.push_back({std::move(measure), limit, asked});
  };
  if (cap.epsilon) {
    compare({Kind::epsilon}, cap.epsilon->units(), charged.epsilon.units());
  }
  if (cap.delta) compare({Kind::delta}, cap.delta->units(), charged.delta.units());
  if (cap.rho) {
    compare({Kind::rho}, cap.rho->units(),
            units_up<Rho>(total_up(mechanisms, accounting::rho_of_release_up)));
  }
  for (const RenyiLimit& limit : cap.orders) {
    const auto divergence = [&limit](const accounting::LossFacts& facts) {
      return accounting::renyi_of_release_up(facts, limit.order);
    };
    compare({Kind::renyi, limit.order}, limit.divergence.units(),
            units_up<Epsilon>(total_up(mechanisms, divergence)));
  }
  return result;
}

bool needs_approval(const Approvals& approvals, const accounting::ApproximateLoss& charged,
                    const std::vector<ComponentMechanism>& mechanisms) {
  return !approvals.above || !exceeded_caps(*approvals.above, charged, mechanisms).empty();
}

LossCap cap_of_one_release(const Dataset& dataset, bool delta_is_counted) {
  LossCap cap = dataset.per_release.value_or(LossCap{});
  if (!cap.delta && !delta_is_counted) cap.delta = default_delta();
  return cap;
}

bool counts_delta(const Dataset& dataset) {
  return has_budget_of(dataset, Measure::approximate);
}

bool counts_pure(const Dataset& dataset) {
  return has_budget_of(dataset, Measure::pure);
}

Delta delta_of_rho(const Dataset& dataset) {
  return dataset.per_release ? dataset.per_release->delta.value_or(default_delta()) : default_delta();
}

}  // namespace epsilog::engine
