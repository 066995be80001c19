// Whether a row still says what was recorded: its line, made anew, has the leaf that stands in the log.
//
// A flipped bit in a row can be another value that decodes as well as the one that was told. So before a stored
// answer is told again, the lines of everything it is made of are compared with their leaves. The audit does not
// come here: it reads rows as they are and lists every fault itself.
//
// Thread-safety: one thread at a time for a connection.
#pragma once

#include <cstdint>

#include "connection.hpp"
#include "decision_rows.hpp"

namespace epsilog::ledger {

/// Compares a decision, its plan and its policy version with the log. Plans and policy versions are compared
/// once for each connection: their rows never change.
/// Throws  LedgerCorrupt naming what differs; StorageFailure.
void require_recorded(Connection& connection, const RecordedDecision& decision);

}  // namespace epsilog::ledger
