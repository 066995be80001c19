#include "loss_amounts.hpp"

#include <algorithm>
#include <set>

#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"

namespace epsilog::engine {
namespace {

constexpr const char* kEpsilon = accounting::EpsilonMeasure::name;
constexpr const char* kDelta = accounting::DeltaMeasure::name;
constexpr const char* kRho = accounting::RhoMeasure::name;

/// The orders and other measures that any budget of the dataset counts in.
std::set<std::string> measures_of(const Dataset& dataset) {
  std::set<std::string> measures;
  const auto add = [&measures](const Budget& budget) {
    for (const MeasureLimit& limit : measure_limits(budget)) measures.insert(limit.measure);
  };
  add(dataset.budget);
  if (dataset.lifetime) add(*dataset.lifetime);
  for (const Limit& limit : dataset.limits) add(limit.budget);
  return measures;
}

/// The losses of the components add in every one of these measures, whatever they are (docs/filters.md);
/// what they add up to is rounded once.
template <class LossOf>
Rational sum(const std::vector<ComponentMechanism>& mechanisms, LossOf loss_of) {
  Rational total = 0;
  for (const ComponentMechanism& mechanism : mechanisms) total += loss_of(mechanism.loss_facts());
  return total;
}

}  // namespace

std::vector<MeasureLimit> measure_limits(const Budget& budget) {
  switch (budget.measure) {
    case Measure::pure:
      return {{kEpsilon, budget.epsilon.units()}};
    case Measure::approximate:
      return {{kDelta, budget.delta.units()}, {kEpsilon, budget.epsilon.units()}};
    case Measure::zcdp:
      return {{kRho, budget.rho.units()}};
    case Measure::rdp:
      break;
  }
  std::vector<MeasureLimit> limits;
  for (const RenyiLimit& limit : budget.orders) {
    limits.push_back({renyi_measure(limit.order), limit.divergence.units()});
  }
  std::sort(limits.begin(), limits.end(),
            [](const MeasureLimit& a, const MeasureLimit& b) { return a.measure < b.measure; });
  return limits;
}

std::map<std::string, std::int64_t> loss_amounts(const Dataset& dataset,
                                                 const std::vector<ComponentMechanism>& mechanisms,
                                                 const accounting::ApproximateLoss& charged) {
  std::map<std::string, std::int64_t> amounts;
  for (const std::string& measure : measures_of(dataset)) {
    if (measure == kEpsilon) {
      amounts[measure] = charged.epsilon.units();
    } else if (measure == kDelta) {
      amounts[measure] = charged.delta.units();
    } else if (measure == kRho) {
      amounts[measure] = Rho::from_rational_up(sum(mechanisms, accounting::rho_of_release_up)).units();
    } else {
      const auto order = renyi_order(measure);
      EPSILOG_INVARIANT(order.has_value());
      const auto divergence = [&order](const accounting::LossFacts& facts) {
        return accounting::renyi_of_release_up(facts, *order);
      };
      amounts[measure] = Epsilon::from_rational_up(sum(mechanisms, divergence)).units();
    }
  }
  return amounts;
}

bool expresses(const Budget& budget, const accounting::ApproximateLoss& charged) {
  return charged.pure() || budget.measure != Measure::pure;
}

}  // namespace epsilog::engine
