// What another policy would change, for people and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/policy_diff.hpp"

namespace epsilog::command {

struct PolicyComparison {
  std::string later;  ///< file
  std::vector<engine::PolicyChange> changes;
  // Of `policy apply`; nothing without a ledger.
  std::optional<std::vector<PolicyFault>> refused;
  std::vector<ledger::AccountState> removed;  ///< accounts whose limit would end
};

[[nodiscard]] std::string policy_diff_text(const PolicyComparison& comparison, const Style& style);
[[nodiscard]] std::string policy_diff_json(const PolicyComparison& comparison);

}  // namespace epsilog::command
