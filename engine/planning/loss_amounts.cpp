#include "loss_amounts.hpp"

#include <map>
#include <mutex>

#include "epsilog/accounting/bounded_sum.hpp"
#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/measure.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;

using Kind = AccountMeasure::Kind;

/// The losses of the components add in every one of these measures, whatever they are (docs/filters.md);
/// what they add up to is rounded to the grid once.
template <class LossOf>
Rational total_up(const std::vector<accounting::LossFacts>& losses, LossOf loss_of) {
  std::vector<Rational> terms;
  terms.reserve(losses.size());
  for (const accounting::LossFacts& loss : losses) terms.push_back(loss_of(loss));
  return accounting::sum_up(terms);
}

Integer units_up(const Rational& value, int decimals) {
  return accounting::ceil(value * accounting::power_of_ten(decimals));
}

}  // namespace

struct LossAmounts::Facts {
  std::vector<accounting::LossFacts> losses;
  accounting::ApproximateLoss charged;
  std::mutex mutex = {};  // guards what follows
  std::map<AccountMeasure, Integer> known = {};

  [[nodiscard]] Integer amount_in(const AccountMeasure& measure) const {
    switch (measure.kind) {
      case Kind::epsilon:
        return Integer(charged.epsilon.units());
      case Kind::delta:
        return Integer(charged.delta.units());
      case Kind::rho:
        return units_up(total_up(losses, accounting::rho_of_release_up), measure.decimals());
      case Kind::renyi:
        break;
    }
    const auto divergence = [&measure](const accounting::LossFacts& loss) {
      return accounting::renyi_of_release_up(loss, measure.order);
    };
    return units_up(total_up(losses, divergence), measure.decimals());
  }
};

LossAmounts::LossAmounts(const std::vector<ComponentMechanism>& mechanisms,
                         const accounting::ApproximateLoss& charged)
    : facts_(std::make_shared<Facts>()) {
  facts_->charged = charged;
  for (const ComponentMechanism& mechanism : mechanisms) facts_->losses.push_back(mechanism.loss_facts());
}

Integer LossAmounts::at(const AccountMeasure& measure) const {
  EPSILOG_INVARIANT(facts_ != nullptr);
  {
    const std::lock_guard lock(facts_->mutex);
    const auto known = facts_->known.find(measure);
    if (known != facts_->known.end()) return known->second;
  }
  Integer units = facts_->amount_in(measure);
  const std::lock_guard lock(facts_->mutex);
  facts_->known.emplace(measure, units);
  return units;
}

bool expresses(const Budget& budget, const accounting::ApproximateLoss& charged) {
  return charged.pure() || budget.measure != Measure::pure;
}

}  // namespace epsilog::engine
