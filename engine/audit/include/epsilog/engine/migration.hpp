// Bringing a ledger of an older schema to today's: what a policy meant, and whether what was made verifies.
#pragma once

#include <string>

#include "epsilog/engine/engine_options.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {

/// ledger::Ledger::migrate(), with what only an engine knows: the object each policy version implies and the
/// accounts it opened; and an audit (audit.hpp) of what the migration made, before that takes the ledger's
/// place.
///
/// Ensures  a ledger that does not verify is as it was, and every fault is in the result. Notes are no
/// faults. Throws   as ledger::Ledger::migrate(). Thread-safety: yes.
ledger::Migration migrate(const std::string& ledger_path, const EngineOptions& options = {},
                          const Progress& progress = {});

/// The steps themselves, for who calls ledger::Ledger::migrate(). `progress` is called while they are used.
[[nodiscard]] ledger::MigrationSteps migration_steps(const Progress& progress = {});

}  // namespace epsilog::engine
