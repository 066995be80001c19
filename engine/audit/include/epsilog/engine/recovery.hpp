// What to do with a ledger that an input or output error poisoned (docs/recovery.md).
#pragma once

#include <string>

#include "epsilog/engine/engine_options.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {

struct RecoverReport {
  bool was_poisoned = false;
  std::string reason;  ///< why it had been poisoned; "" otherwise
};

/// Records that a ledger which an input or output error poisoned is recovered, and clears the mark.
///
/// Requires  `by` not ""; the machine was restarted since, so that what the page cache pretended is gone.
/// Ensures   the file's structure and every record were verified first.
/// Throws    LedgerIo (not restarted yet), LedgerCorrupt (verification failed), LedgerRolledBack (the replica
///           holds what the ledger has lost: recover_from()), LedgerBusy (EngineOptions::wait_ms).
RecoverReport recover(const std::string& ledger_path, const std::string& by, const std::string& why = "",
                      const EngineOptions& options = {});

/// Puts back what a replica holds and the ledger has lost, or makes a ledger of it where none is: as
/// ledger::Ledger::recover_from(), and only if what comes of it verifies. One that is poisoned besides is
/// then recovered as by recover(). `steps.verify` is not looked at. Throws  as these.
[[nodiscard]] ledger::ReplicaRecovery recover_from(const std::string& ledger_path, const std::string& replica,
                                                   const ledger::ReplicaRecoverySteps& steps,
                                                   const EngineOptions& options = {},
                                                   const Progress& progress = {});

}  // namespace epsilog::engine
