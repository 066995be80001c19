// What the caller sees: of a request by engine's request_visibility.hpp, which decides it for all verbs and
// readers; of budgets and datasets likewise by the policy that is active.
//
// A data token is access control, no part of the privacy claim: whoever got a value may publish it.
#pragma once

#include <optional>
#include <string>

#include "caller.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/request_visibility.hpp"

namespace epsilog::serve {

/// As whom the engine knows the caller.
[[nodiscard]] engine::Viewer viewer(const Caller& caller);

/// Whether the request is there for the caller.
[[nodiscard]] bool may_see(const Caller& caller, const engine::Answer& answer);
/// What of it they see; nothing where it is not there for them.
[[nodiscard]] std::optional<engine::Answer> answer_as_seen(const Caller& caller, engine::Answer answer);

/// Whether they may be shown the line of a decision, which says all there is to it.
[[nodiscard]] engine::LineVisibility line_visibility(const Caller& caller, const engine::Answer& answer,
                                                     const ledger::StoredDecision& line);

/// Whether they may commit it: who asked, or of a value that others hand in one of those.
[[nodiscard]] bool may_commit(const Caller& caller, const engine::Answer& answer);

/// The dataset of that name, whoever may ask it; nullptr if the active policy declares none.
[[nodiscard]] const engine::Dataset* declared_dataset(const Caller& caller, const std::string& dataset);
/// Whether they have to do with this dataset: may ask about it, or have a duty. Those declared alone.
[[nodiscard]] bool may_see_dataset(const Caller& caller, const std::string& dataset);
/// Throws  engine::ConcealedDataset unless they do.
void require_dataset(const Caller& caller, const std::string& dataset);
/// Throws  engine::ConcealedDataset unless they may ask it, whatever duties they have.
void require_askable(const Caller& caller, const std::string& dataset);

}  // namespace epsilog::serve
