// Accounts as tables: what their limits are, what is spent, what remains.
#pragma once

#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

[[nodiscard]] std::string accounts_text(const std::vector<ledger::AccountState>& accounts,
                                        const Style& style);

/// As accounts_text; an account whose limit is none any more says so.
[[nodiscard]] std::string budget_text(const std::vector<engine::BudgetAccount>& accounts, const Style& style);

/// As accounts_text; of very many those in which the least remains.
[[nodiscard]] std::string scarcest_text(std::vector<ledger::AccountState> accounts, const Style& style);

/// What a reader of figures has to know beside them; "" when there is nothing.
[[nodiscard]] std::string notes_text(const std::vector<std::string>& notes);

}  // namespace epsilog::command
