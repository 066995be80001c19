// Answers that are whole numbers: which mechanism suits them, and which of them the policy states itself.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// Throws    Underivable for a new question whose answer follows from the policy: how many rows there are,
///           where their number is declared. What is on record is told and finished without asking.
void require_not_stated(const Dataset& dataset, const Question& question);

/// What to say to whoever plans a request that is snapped although every answer to it is whole: nothing where
/// discrete Laplace noise of the same epsilon is no more accurate at the first of `alphas`, else 0.05.
/// Requires  no batch.
[[nodiscard]] std::vector<std::string> mechanism_advice(const Dataset& dataset, const Request& request,
                                                        const Plan& plan, std::span<const Rational> alphas);

}  // namespace epsilog::engine
