// What a reader of figures about a dataset has to know beside them.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// What every report about the dataset has to say about its budgets, one sentence each.
[[nodiscard]] std::vector<std::string> budget_notes(const Dataset& dataset);

}  // namespace epsilog::engine
