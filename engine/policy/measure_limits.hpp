// What a budget limits, measure by measure.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "epsilog/engine/budget_policy.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// The part of a budget that one account keeps.
struct MeasureLimit {
  AccountMeasure measure;
  std::int64_t units = 0;
};
/// Ordered by the text of the measure.
[[nodiscard]] std::vector<MeasureLimit> measure_limits(const Budget& budget);
[[nodiscard]] std::vector<MeasureLimit> measure_limits(const LossCap& cap);

/// Of which scope accounts count all that is lost in that measure, whoever asks for whichever rows:
/// "lifetime", "" of the dataset, "period" of the periods of its budget. Nothing where only blocks or askers
/// do.
[[nodiscard]] std::optional<std::string_view> scope_of_all(const Dataset& dataset,
                                                           const AccountMeasure& measure);

/// What one release may have of delta where nothing else says so: 10^-6.
[[nodiscard]] Delta default_delta();

}  // namespace epsilog::engine
