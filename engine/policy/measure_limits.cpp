#include "measure_limits.hpp"

#include <algorithm>

namespace epsilog::engine {
namespace {

using Kind = AccountMeasure::Kind;

}  // namespace

std::vector<MeasureLimit> measure_limits(const Budget& budget) {
  switch (budget.measure) {
    case Measure::pure:
      return {{{Kind::epsilon}, budget.epsilon.units()}};
    case Measure::approximate:
      return {{{Kind::delta}, budget.delta.units()}, {{Kind::epsilon}, budget.epsilon.units()}};
    case Measure::zcdp:
      return {{{Kind::rho}, budget.rho.units()}};
    case Measure::rdp:
      break;
  }
  std::vector<MeasureLimit> limits;
  for (const RenyiLimit& limit : budget.orders) {
    limits.push_back({{Kind::renyi, limit.order}, limit.divergence.units()});
  }
  std::sort(limits.begin(), limits.end(),
            [](const MeasureLimit& a, const MeasureLimit& b) { return a.measure.text() < b.measure.text(); });
  return limits;
}

std::vector<MeasureLimit> measure_limits(const LossCap& cap) {
  const auto& [epsilon, delta, rho, orders] = cap;
  std::vector<MeasureLimit> limits;
  if (epsilon) limits.push_back({{Kind::epsilon}, epsilon->units()});
  if (delta) limits.push_back({{Kind::delta}, delta->units()});
  if (rho) limits.push_back({{Kind::rho}, rho->units()});
  for (const RenyiLimit& limit : orders) {
    limits.push_back({{Kind::renyi, limit.order}, limit.divergence.units()});
  }
  std::sort(limits.begin(), limits.end(),
            [](const MeasureLimit& a, const MeasureLimit& b) { return a.measure.text() < b.measure.text(); });
  return limits;
}

std::optional<std::string_view> scope_of_all(const Dataset& dataset, const AccountMeasure& measure) {
  const auto counts = [&measure](const Budget& budget) {
    const std::vector<MeasureLimit> limits = measure_limits(budget);
    return std::any_of(limits.begin(), limits.end(),
                       [&](const MeasureLimit& limit) { return limit.measure.text() == measure.text(); });
  };
  if (dataset.lifetime && counts(*dataset.lifetime)) return "lifetime";
  if (dataset.blocks || !counts(dataset.budget)) return std::nullopt;
  return dataset.renews ? "period" : "";
}

Delta default_delta() {
  return Delta::from_units(1'000'000'000'000);
}

}  // namespace epsilog::engine
