// Decisions about earlier ones, as they are recorded.
#pragma once

#include <string>

#include "epsilog/engine/actor.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// With the parent's dataset and policy version, stored with the parent's accounts when it moves them; in
/// the name of `who`. `text` is the request or the act.
[[nodiscard]] ledger::DecisionDraft draft_about(const ledger::StoredDecision& parent, ledger::Outcome outcome,
                                                const Actor& who, const std::string& text);

/// In whose name stands what follows from a decision without anybody asking for it: what a last approval
/// decides, and the end by a deadline. It is known of them what was known when they asked.
[[nodiscard]] Actor actor_of(const ledger::StoredDecision& root);

}  // namespace epsilog::engine
