#include "loss_amounts.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;

constexpr const char* kEpsilon = accounting::EpsilonMeasure::name;
constexpr const char* kDelta = accounting::DeltaMeasure::name;
constexpr const char* kRho = accounting::RhoMeasure::name;

/// The losses of the components add in every one of these measures, whatever they are (docs/filters.md);
/// what they add up to is rounded once.
template <class LossOf>
Rational sum(const std::vector<accounting::LossFacts>& losses, LossOf loss_of) {
  Rational total = 0;
  for (const accounting::LossFacts& loss : losses) total += loss_of(loss);
  return total;
}

Integer units_up(const Rational& value, int decimals) {
  return accounting::ceil(value * accounting::power_of_ten(decimals));
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

struct LossAmounts::Facts {
  std::vector<accounting::LossFacts> losses;
  accounting::ApproximateLoss charged;
  std::mutex mutex = {};  // guards what follows
  std::map<std::string, Integer> known = {};

  [[nodiscard]] Integer found(const std::string& measure) const {
    if (measure == kEpsilon) return Integer(charged.epsilon.units());
    if (measure == kDelta) return Integer(charged.delta.units());
    if (measure == kRho) {
      return units_up(sum(losses, accounting::rho_of_release_up), accounting::RhoMeasure::decimals);
    }
    const auto order = renyi_order(measure);
    EPSILOG_INVARIANT(order.has_value());
    const auto divergence = [&order](const accounting::LossFacts& loss) {
      return accounting::renyi_of_release_up(loss, *order);
    };
    return units_up(sum(losses, divergence), accounting::EpsilonMeasure::decimals);
  }
};

LossAmounts::LossAmounts(const std::vector<ComponentMechanism>& mechanisms,
                         const accounting::ApproximateLoss& charged)
    : facts_(std::make_shared<Facts>()) {
  facts_->charged = charged;
  for (const ComponentMechanism& mechanism : mechanisms) facts_->losses.push_back(mechanism.loss_facts());
}

Integer LossAmounts::at(const std::string& measure) const {
  EPSILOG_INVARIANT(facts_ != nullptr);
  {
    const std::lock_guard lock(facts_->mutex);
    const auto known = facts_->known.find(measure);
    if (known != facts_->known.end()) return known->second;
  }
  Integer units = facts_->found(measure);
  const std::lock_guard lock(facts_->mutex);
  facts_->known.emplace(measure, units);
  return units;
}

bool expresses(const Budget& budget, const accounting::ApproximateLoss& charged) {
  return charged.pure() || budget.measure != Measure::pure;
}

}  // namespace epsilog::engine
