// plan + accounts -> decision. A function of public facts alone (guarantee G7).
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/engine.hpp"
#include "plan.hpp"

namespace epsilog::engine {

/// Which earlier decision a key is bound to, when that decision asked something else.
struct KeyConflict {
  std::string key;
  std::string decision_id;
};

/// Checks every rule and limit that applies, so that a refusal names them all.
///
/// Requires  `accounts` are those of the dataset, as they stand.
[[nodiscard]] Decision decide(const Dataset& dataset, const Request& request, const Plan& plan,
                              const std::vector<ledger::AccountState>& accounts,
                              const std::optional<KeyConflict>& conflict);

/// The debits of a granted plan.
/// Throws  LedgerCorrupt if the dataset has no account for a measure the plan charges.
[[nodiscard]] std::vector<ledger::Charge> charges(const Plan& plan,
                                                  const std::vector<ledger::AccountState>& accounts);

/// Canonical decimal text of grid units of a measure.
/// Throws  LedgerCorrupt for an unknown measure.
[[nodiscard]] std::string amount_text(const std::string& measure, std::int64_t units);

}  // namespace epsilog::engine
