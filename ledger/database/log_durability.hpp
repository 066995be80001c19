// Makes durable what a COMMIT that never returned may have left in the page cache alone.
//
// Syncing is not enough: if the interrupted sync failed, the kernel has marked the pages clean, and the next
// one finds nothing to do and succeeds. So the bytes of the write-ahead log are written again, as they are
// read, and synced then. And what lies in the log beyond the last transaction that is published is cut off: a
// transaction of which every byte was written and that was not published is read by nobody, until somebody
// opens the ledger alone and recovers the log.
//
// All of it goes through the log as SQLite has it open. A descriptor of our own would do no harm either:
// closing one drops the POSIX locks on its file only, and SQLite's are on the database and on L-shm.
#pragma once

#include "connection.hpp"

namespace epsilog::ledger {

/// Requires  the turn is held; `writer` may write and is in no transaction.
/// Ensures   every transaction that can be read is durable, and none that cannot be read is left in the log.
/// Throws    StorageFailure, after which `writer` may be in a transaction; LedgerIo.
void make_log_durable(Connection& writer, const LedgerFiles& files);

}  // namespace epsilog::ledger
