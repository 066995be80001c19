// plan + accounts -> decision. A function of public facts alone (guarantee G7).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"
#include "plan.hpp"
#include "scopes.hpp"

namespace epsilog::engine {

/// Which earlier decision a key is bound to, when that decision asked something else.
struct KeyConflict {
  std::string key;
  std::string decision_id;
};

/// What a request asks of one account, and how that account stands. The id is 0 for one that is not there
/// yet: it would be opened with the policy's limit.
struct Debit {
  PlannedCharge charge;
  ledger::AccountState account;
};

/// Requires  `present` are the accounts of the asks that exist, in any order.
/// Ensures   one for each ask, in their order, every balance valid.
[[nodiscard]] std::vector<Debit> debits(const std::vector<PlannedCharge>& planned_charges,
                                        const std::vector<ledger::AccountState>& present);
[[nodiscard]] std::vector<PlannedCharge> planned_charges_of(const std::vector<Debit>& debits);
[[nodiscard]] std::vector<ledger::AccountName> account_names(
    const std::vector<PlannedCharge>& planned_charges);
[[nodiscard]] std::vector<ledger::AccountState> account_states(const std::vector<Debit>& debits);

/// Checks every rule and limit that applies, so that a refusal names them all; the reasons after the first
/// `reasons_kept` are counted only.
/// Requires  told >= 1.
[[nodiscard]] Decision decide(const Policy& policy, const Dataset& dataset, const Request& request,
                              const Plan& plan, const std::vector<Debit>& debits,
                              const std::optional<KeyConflict>& conflict,
                              std::size_t reasons_kept = std::numeric_limits<std::size_t>::max());

/// Those accounts with whose balances a decision is stored. What is debited is stored with all of them; what
/// is refused or waits debits nothing, and has at most 16, within some kilobytes: all if they are no more,
/// else those that its stored reasons name, else the first.
[[nodiscard]] std::vector<Debit> recorded_debits(const std::vector<Debit>& debits, const Decision& decision,
                                                 ledger::Outcome outcome);
/// How many of the first of these accounts are no more than that.
[[nodiscard]] std::size_t recordable_count(const std::vector<ledger::AccountName>& accounts);

/// As what a decision is recorded: what is granted may wait for approvals, or for its commit.
[[nodiscard]] ledger::Outcome outcome_of(const Decision& decision, const Request& request,
                                         std::uint64_t approvals_required);

/// What a granted request takes from accounts that are there: everything that is not zero.
/// Requires  every account with an amount has an id.
[[nodiscard]] std::vector<ledger::Charge> charges(const std::vector<Debit>& debits);

}  // namespace epsilog::engine
