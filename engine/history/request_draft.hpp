// Decisions about earlier ones, as they are recorded.
#pragma once

#include <string>

#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// With the parent's dataset and policy version, stored with the parent's accounts when it moves them; in
/// the name of `who`. `text` is the request or the act.
[[nodiscard]] ledger::DecisionDraft draft_about(const ledger::StoredDecision& parent, ledger::Outcome outcome,
                                                const std::string& who, const std::string& text);

}  // namespace epsilog::engine
