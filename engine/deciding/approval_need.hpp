// Whether a request waits until others agreed, and why.
//
// `above` looks at the request, or, with `within`, at all that its asker lost of the dataset lately. What an
// asker lost is what accounts count that every request is charged to (scope_of_all), so that it stands in the
// record. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/principal_charges.hpp"
#include "plan.hpp"
#include "scopes.hpp"

namespace epsilog::engine {

/// What the asker was charged within a window and has reserved, in grid units.
using ChargedBefore = accounting::CallbackRef<accounting::Integer(const ledger::ChargeWindow&)>;

struct ApprovalNeed {
  std::uint64_t required = 0;               ///< how many must agree; 0: it is decided at once
  std::vector<LossWithinWindow> sums = {};  ///< one for each measure of an `above` with `within`
};

/// Requires  `planned_charges` are those of the request, which has that plan.
[[nodiscard]] ApprovalNeed approval_need(const Dataset& dataset, const Plan& plan, const std::string& asker,
                                         const std::vector<PlannedCharge>& planned_charges,
                                         const ChargedBefore& before);

}  // namespace epsilog::engine
