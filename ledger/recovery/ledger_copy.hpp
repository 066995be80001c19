// The pages of a ledger in another file.
#pragma once

#include "connection.hpp"
#include "epsilog/accounting/callback.hpp"
#include "snapshot_state.hpp"

namespace epsilog::ledger {

/// All pages of the one, as its transaction sees them, as one transaction of the other. `progress` is told
/// which part is done, 0..1.
/// Requires  `to` is in no transaction.
/// Throws    StorageFailure; what `progress` throws.
void copy_pages(Connection& from, Connection& to, accounting::CallbackRef<void(double)> progress = {});

/// The same into a file that nobody else knows, with nothing left in its log.
/// Throws  as copy_pages(), LedgerIo.
void copy_into_new_file(SnapshotState& view, const LedgerFiles& files,
                        accounting::CallbackRef<void(double)> progress = {});

/// Throws  LedgerIo if the ledger is poisoned; LedgerBusy unless all that the snapshot shows is known to be
///         durable, or can be made so.
void require_durable(SnapshotState& view);

}  // namespace epsilog::ledger
