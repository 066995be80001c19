// What became of a policy, for people.
#pragma once

#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// `accounts` resolves the account of each limit change and removal.
[[nodiscard]] std::string policy_apply_text(const engine::ApplyReport& report,
                                            const std::vector<engine::BudgetAccount>& accounts,
                                            const Style& style);

}  // namespace epsilog::command
