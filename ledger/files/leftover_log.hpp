// What SQLite leaves beside a database: a log and an index without any content.
//
// A reader of a copy makes both, and a deleted ledger leaves both behind. They say nothing of any ledger, and
// are in the way of the next file of that name.
#pragma once

#include "ledger_files.hpp"

namespace epsilog::ledger {

/// Whether L-wal and L-shm are not there, or hold nothing: the log is an empty file, the index has the size
/// of one.
/// Throws  LedgerBusy, LedgerUnusable: it cannot be told.
[[nodiscard]] bool is_log_empty(const LedgerFiles& files);

/// Removes L-wal and L-shm that a deleted database left.
/// Requires  nothing has the name of the database; is_log_empty().
/// Throws    LedgerBusy, LedgerUnusable.
void remove_leftover_log(const LedgerFiles& files);

/// Lets SQLite remove an empty log and the index from beside a copy: a database without a lock file, which no
/// Epsilog ever wrote to. If another program reads the copy now, both stay. The database is not changed.
void tidy_copy(const LedgerFiles& files) noexcept;

}  // namespace epsilog::ledger
