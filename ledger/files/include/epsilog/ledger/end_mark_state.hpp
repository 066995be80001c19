// What is known of how long a ledger was.
#pragma once

namespace epsilog::ledger {

/// What L.lock says of the end that a ledger had (docs/recovery.md).
enum class EndMarkState {
  none,        ///< there is no lock file, or it never held a mark: a backup, an auditor's copy, or L.lock was
               ///< deleted
  unreadable,  ///< the mark fails its digest
  remembered,  ///< it names a ledger, a number of lines and the leaf of the last one
};

}  // namespace epsilog::ledger
