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
  ledger::AcceptedRollback accepted = {};  ///< both numbers, where lines are missing and that was accepted
};

/// Records that a ledger which an input or output error poisoned is recovered, and clears the mark.
///
/// With `accept_rollback`, a ledger that has fewer lines than L.lock remembers goes on with those, after a line
/// that says so.
///
/// Requires  `by` not "", with `accept_rollback` nor `why`; a poisoned ledger's machine was restarted since, so
///           that what the page cache pretended is gone.
/// Ensures   the file's structure and every record were verified first.
/// Throws    LedgerIo (not restarted yet), LedgerCorrupt (verification failed), LinesMissing (not accepted),
///           LedgerRolledBack (the replica holds what the ledger has lost: recover_from()), LedgerBusy
///           (EngineOptions::wait_ms), InvalidParameter.
RecoverReport recover(const std::string& ledger_path, const std::string& by, const std::string& why = "",
                      const EngineOptions& options = {}, bool accept_rollback = false);

/// Puts back what a replica holds and the ledger has lost, or makes a ledger of it where none is: as
/// ledger::Ledger::recover_from(), and only if what comes of it verifies. One that is poisoned besides is
/// then recovered as by recover(). `steps.verify` is not looked at.
/// Throws  as these.
[[nodiscard]] ledger::ReplicaRecovery recover_from(const std::string& ledger_path, const std::string& replica,
                                                   const ledger::ReplicaRecoveryOptions& steps,
                                                   const EngineOptions& options = {},
                                                   const Progress& progress = {});

}  // namespace epsilog::engine
