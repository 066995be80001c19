// What a policy would change, and why it would be refused.
#pragma once

#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// What apply_policy() would do with a policy.
struct PolicyReview {
  std::vector<PolicyFault> refused;           ///< why it would not apply the change
  std::vector<PolicyChange> changes;          ///< how the policy differs from the active one
  std::vector<ledger::AccountState> removed;  ///< the accounts whose limit it would end
};

}  // namespace epsilog::engine
