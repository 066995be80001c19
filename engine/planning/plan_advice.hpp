// What to say to whoever plans a request: how it could be asked, or its policy be written, to more effect.
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// Returns advice on the mechanism (whole_answers.hpp) and on the totals of a table, for a batch on each row.
/// Totals are proposed where a grand total beside the cells, at the largest share looked at, is at least
/// twice as near as the sum of the cells without. Totals that are asked for are named where their noise has a
/// larger variance than that of their cells added. For a batch that is charged as one, `gaussian` is proposed
/// where it would be charged less than `discrete_gaussian`, with both figures: the batch is planned again for
/// that, if it has at most 128 rows. `alphas`: the first is looked at, 0.05 without.
[[nodiscard]] std::vector<std::string> plan_advice(const Dataset& dataset, const Request& request,
                                                   const Plan& plan, std::span<const Rational> alphas);

}  // namespace epsilog::engine
