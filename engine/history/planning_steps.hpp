// How much work a plan is, before it is done. Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"

namespace epsilog::engine {

/// What a request is planned for.
enum class PlannedFor : std::uint8_t {
  once,    ///< a plan, a forecast at one epsilon, or a release with its intervals
  search,  ///< a forecast of a count or of an accuracy: plans at many epsilons
};

/// Returns how much work planning is at most, in steps, by counting rows, components, quantiles and cells, at
/// so many `alphas`. How long a step takes was measured and is not proved: below a tenth of a millisecond.
/// What advice costs, which plans a batch of up to 128 rows a second time, is not counted. What the policy
/// does not declare counts as one: planning says that it is not there.
/// Ensures  at most 2^50: what is more is that.
[[nodiscard]] std::uint64_t planning_steps_up(const Dataset& dataset, const Request& request,
                                              std::size_t alphas, PlannedFor what);

}  // namespace epsilog::engine
