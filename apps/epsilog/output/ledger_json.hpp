// The balances of a ledger, and what was done to it by hand, as JSON.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/recovery.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::command {

[[nodiscard]] std::string budget_json(const std::string& ledger_id,
                                      const std::vector<engine::BudgetAccount>& accounts,
                                      const std::vector<std::string>& notes);
[[nodiscard]] std::string migrate_json(const std::string& ledger, const ledger::Migration& migration);
/// `held_at` "": the calendar was not held.
[[nodiscard]] std::string clock_confirm_json(const std::string& ledger, const std::string& held_at,
                                             const std::string& now);
[[nodiscard]] std::string relocate_json(const engine::RelocateReport& report, const std::string& ledger_id);
[[nodiscard]] std::string recover_json(const std::string& ledger, const engine::RecoverReport& report);

}  // namespace epsilog::command
