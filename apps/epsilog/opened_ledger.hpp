// Opening a ledger for the verbs that only read it.
#pragma once

#include <string>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// Warns on standard error when the ledger is poisoned: what can be read may not be what is on the
/// disk, and nobody can write until `epsilog recover`.
void warn_if_poisoned(const std::string& ledger, Console& console);

/// Throws  as Engine::open.
[[nodiscard]] engine::Engine open_for_reading(const std::string& ledger, Console& console,
                                              const engine::EngineOptions& options = {});

}  // namespace epsilog::command
