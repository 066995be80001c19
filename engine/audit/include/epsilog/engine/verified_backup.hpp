// A ledger in a second place, and back again (docs/recovery.md, "Backups").
#pragma once

#include <functional>
#include <string>

#include "epsilog/engine/engine_options.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/ledger/backup.hpp"

namespace epsilog::engine {

/// As ledger::Ledger::backup(), and only if the copy verifies as by audit_verify(), its file included; else
/// every fault is in the result and nothing is made. `progress` is told of both.
/// Throws  as that. Thread-safety: yes.
[[nodiscard]] ledger::Backup backup(const std::string& ledger_path, const std::string& file,
                                    const EngineOptions& options = {}, const Progress& progress = {});

/// As ledger::Ledger::restore(), and only if the backup verifies so, and what is made of it and a replica
/// likewise. `steps.verify` is not looked at.
/// Throws  as that. Thread-safety: yes.
[[nodiscard]] ledger::Restoration restore(const std::string& ledger_path, const std::string& file,
                                          ledger::RestoreOptions steps, const EngineOptions& options = {},
                                          const Progress& progress = {});

}  // namespace epsilog::engine
