// What a budget limits, measure by measure.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "epsilog/engine/budget_policy.hpp"
#include "epsilog/engine/measure.hpp"

namespace epsilog::engine {

/// The part of a budget that one account keeps.
struct MeasureLimit {
  AccountMeasure measure;
  std::int64_t units = 0;
};
/// Ordered by the text of the measure.
[[nodiscard]] std::vector<MeasureLimit> measure_limits(const Budget& budget);

/// What one release may have of delta where nothing else says so: 10^-6.
[[nodiscard]] Delta default_delta();

}  // namespace epsilog::engine
