// What to say to whoever plans a request: how it could be asked, or its policy be written, to more effect.
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// The advice on its mechanism (whole_answers.hpp), and on the totals of a table: nothing where a grand total
/// released beside the cells, at the largest share looked at, is not twice as near as the sum of the cells
/// that are released without. Of a batch, of each row.
/// `alphas`: the first is looked at, 0.05 without.
[[nodiscard]] std::vector<std::string> plan_advice(const Dataset& dataset, const Request& request,
                                                   const Plan& plan, std::span<const Rational> alphas);

}  // namespace epsilog::engine
