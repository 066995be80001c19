// What a reader of figures about a dataset has to know beside them.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// What every report about the dataset has to say about its budgets, one sentence each. What was decided
/// under earlier rules is reported with the notes it had then.
[[nodiscard]] std::vector<std::string> budget_notes(const Dataset& dataset, ledger::Rules rules);

}  // namespace epsilog::engine
