// What became of a policy, as JSON.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

[[nodiscard]] std::string init_json(const engine::InitReport& report);
[[nodiscard]] std::string policy_check_json(const std::vector<PolicyFault>& faults,
                                            const std::vector<PolicyFault>& warnings);
[[nodiscard]] std::string policy_show_json(const ledger::PolicyVersion& version,
                                           const std::string& ledger_id);
/// `accounts` resolves the account of each limit change and removal.
[[nodiscard]] std::string policy_apply_json(const engine::ApplyReport& report, const std::string& ledger_id,
                                            const std::vector<engine::BudgetAccount>& accounts);

}  // namespace epsilog::command
