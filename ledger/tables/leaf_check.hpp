// Whether a row still says what was recorded: its line, made anew, has the leaf that stands in the log.
//
// A flipped bit in a row can be another value that decodes as well as the one that was told. So before a stored
// answer is told again, the lines of everything it is made of are compared with their leaves. The audit does not
// come here: it reads rows as they are and lists every fault itself.
//
// Thread-safety: one thread at a time for a connection.
#pragma once

#include "connection.hpp"
#include "decision_rows.hpp"

namespace epsilog::ledger {

/// The decision whose row a query (EPSILOG_DECISION_COLUMNS) stands on. The row has to be what was recorded, and
/// so have its plan and policy version, which are compared once for each connection: their rows never change.
/// Throws  UnreadableRow naming what differs, or cannot be read; StorageFailure.
[[nodiscard]] StoredDecision read_decision(Connection& connection, const Query& row);

}  // namespace epsilog::ledger
