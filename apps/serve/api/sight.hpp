// What of an answer, and of the budgets, somebody gets to see.
//
//   who asked, and auditors                      all of it
//   curators, its approvers, who supplies it     all but the values
//   everybody else                               that there is none
//
// A data token goes to who asked and to who supplies the value. It is access control, no part of the privacy
// claim: whoever got a value may publish it.
#pragma once

#include <optional>
#include <vector>

#include "caller.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::serve {

enum class Sight { nothing, without_values, whole };

[[nodiscard]] Sight sight(const Caller& caller, const engine::Answer& answer);
/// What of it they see; nothing for Sight::nothing.
[[nodiscard]] std::optional<engine::Answer> seen(const Caller& caller, engine::Answer answer);

/// Those that bind the caller; curators and auditors see all.
[[nodiscard]] std::vector<engine::BudgetAccount> seen(const Caller& caller,
                                                      std::vector<engine::BudgetAccount> accounts);

/// Whether they may be shown the line of a decision, which says all there is to it: one of their own, or of a
/// request that they asked, with balances that they see; auditors any, curators any without a value.
enum class LineSight { nothing, hidden, whole };
[[nodiscard]] LineSight line_sight(const Caller& caller, const engine::Answer& answer,
                                   const ledger::StoredDecision& line);

/// Whether they may commit it: who asked, or of a value that others hand in one of those.
[[nodiscard]] bool may_commit(const Caller& caller, const engine::Answer& answer);

/// Whether they have to do with this dataset: may ask about it, or have a duty. Those declared alone.
[[nodiscard]] bool knows(const Caller& caller, const std::string& dataset);
/// Throws  NotFound unless they do, in the same words as for one that is not there.
void require_dataset(const Caller& caller, const std::string& dataset);

}  // namespace epsilog::serve
