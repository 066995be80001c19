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

/// Returns an upper bound of the work of planning, in steps. No step takes longer than some fraction of a
/// millisecond, whatever is asked: the bound counts rows, components, quantiles and cells, at so many
/// `alphas`. What the policy does not declare counts as one: planning says that it is not there. Ensures  at
/// most 2^50: what is more is that.
[[nodiscard]] std::uint64_t planning_steps_up(const Dataset& dataset, const Request& request,
                                              std::size_t alphas, PlannedFor what);

}  // namespace epsilog::engine
