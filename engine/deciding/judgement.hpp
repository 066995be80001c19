// One way to decide: what a planned request asks of accounts, how these stand, and what follows. Releasing,
// approving, planning and forecasting go through it; what differs is where the accounts are looked up.
// Thread-safety: pure functions.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "approval_need.hpp"
#include "decide.hpp"
#include "epsilog/engine/request_state.hpp"

namespace epsilog::engine {

/// A request as a policy plans it. Everything outlives it.
struct PlannedRequest {
  const Policy& policy;
  const Dataset& dataset;  ///< of `policy`
  const Request& request;
  const Plan& plan;
};

/// asks → accounts → debits.
/// Requires  `accounts_of(names)` gives those of the named accounts that are there, in any order.
template <class AccountsOf>
[[nodiscard]] std::vector<Debit> debits_of(const PlannedRequest& planned, const std::string& calendar_time,
                                           const AccountsOf& accounts_of) {
  const std::vector<PlannedCharge> asked =
      planned_charges(planned.policy, planned.dataset, planned.request, planned.plan, calendar_time);
  return debits(asked, accounts_of(account_names(asked)));
}

struct Judgement {
  Decision decision;
  ledger::Outcome outcome = ledger::Outcome::refused;  ///< as what it would be recorded
  RequestState state = RequestState::refused;          ///< how it would stand then
  ApprovalNeed approvals = {};                         ///< of what nothing stands against
};

/// As decide(). `before`: what accounts, where they are looked up, say of who asks.
[[nodiscard]] Judgement judge(const PlannedRequest& planned, const std::vector<Debit>& debits,
                              const ChargedBefore& before, const std::optional<KeyConflict>& conflict,
                              std::size_t reasons_kept = std::numeric_limits<std::size_t>::max());

}  // namespace epsilog::engine
