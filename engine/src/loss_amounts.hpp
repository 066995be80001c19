// What a plan costs in every measure in which its dataset keeps accounts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "component_mechanism.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// The part of a budget that one account keeps.
struct MeasureLimit {
  std::string measure;
  std::int64_t units = 0;
};
/// Ordered by measure.
[[nodiscard]] std::vector<MeasureLimit> measure_limits(const Budget& budget);

/// Grid units by measure, rounded up, for every measure that some budget of the dataset counts in.
[[nodiscard]] std::map<std::string, std::int64_t> loss_amounts(
    const Dataset& dataset, const std::vector<ComponentMechanism>& mechanisms,
    const accounting::ApproximateLoss& charged);

/// Whether the budget has a part for everything such a release loses.
[[nodiscard]] bool expresses(const Budget& budget, const accounting::ApproximateLoss& charged);

}  // namespace epsilog::engine
