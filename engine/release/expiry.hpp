// What is overdue ends before anything else is written, whoever writes next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine_state.hpp"
#include "epsilog/engine/actor.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "request_act.hpp"
#include "request_family.hpp"

namespace epsilog::engine {

/// A transaction that began with ending what was overdue.
struct BegunTransaction {
  ledger::Transaction transaction;
  std::size_t ended = 0;  ///< decisions recorded in it so far
};

/// Ends what is overdue in order of deadlines, except one decision, and then the reservations of periods that
/// are over, without exception: a budget of one period is not spent in the next. One transaction ends 64 at
/// most, so that others get their turn between them; the last of them is returned, open. One that cannot be
/// read stays open and is told to EngineOptions::unreadable: it stops nobody.
/// `next`: the policy that the transaction will apply, as Ledger::begin_to_apply(); where that has to name
/// another replica first, all that is overdue ends with it.
[[nodiscard]] BegunTransaction begin_after_expiries(EngineState& state, const std::string& except = "",
                                                    const ledger::PolicyVersion* next = nullptr);
/// The same without waiting longer than that: none if the turn is not to be had, or more than one transaction
/// ends would end.
[[nodiscard]] std::optional<BegunTransaction> begin_after_expiries_within(EngineState& state,
                                                                          std::chrono::milliseconds wait);

/// COMMIT. What it made durable in the ledger and not in the replica is told as not durable, without values,
/// and EngineOptions::warn says why.
[[nodiscard]] std::vector<ledger::StoredDecision> commit_transaction(EngineState& state,
                                                                     ledger::Transaction transaction);

/// Ends a request that is open and not committed: what it reserved is given back, or is spent when somebody
/// may have seen the data. `act` says by what, in the name of `who`.
void end_uncommitted(ledger::Transaction& transaction, const RequestFamily& family, const Act& act,
                     const Actor& who);

/// Whether it is open, and ends before anything else is written: its deadline is there, or it holds budget of
/// a period that is not the calendar's current one.
[[nodiscard]] bool is_overdue(ledger::Snapshot& view, const RequestFamily& family);
/// Whether what is open is charged in full when it ends uncommitted.
[[nodiscard]] bool forfeits(const RequestFamily& family);

/// These accounts, some of the view's, as they would stand if what is overdue now had ended. Records nothing.
[[nodiscard]] std::vector<ledger::AccountState> accounts_after_expiries(
    ledger::Snapshot& view, std::vector<ledger::AccountState> accounts);

}  // namespace epsilog::engine
