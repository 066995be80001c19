// The history of a ledger of schema 3, written anew as records (docs/ledger_format.md).
#pragma once

#include <cstdint>
#include <functional>

#include "connection.hpp"
#include "epsilog/ledger/clock.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "ledger_files.hpp"

namespace epsilog::ledger {

/// Fills the empty file `made` from `old`, which has no faults (schema3.hpp), and reads it back: every
/// decision says what it said. Returns how many there are.
///
/// The order of the lines: after the decisions that came before (after_decision), by the number of the event
/// where it was recorded; before those, and by kind, what has no such number: a policy version with its
/// place, its accounts by id and its limits by seq, relocations, migrations, clock events by seq. A version
/// of which no place was recorded stands where it changed limits, else before the first decision under it,
/// and before every later version; an account that no policy opened before the first decision that touches
/// it.
///
/// Throws  StorageFailure, LedgerCorrupt naming what does not come out as it was; the file is of no use then.
std::int64_t write_history(Connection& old, const LedgerFiles& made, const Clock& clock,
                           const MigrationSteps& steps);

}  // namespace epsilog::ledger
