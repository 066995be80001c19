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

Delta default_delta() {
  return Delta::from_units(1'000'000'000'000);
}

}  // namespace epsilog::engine
