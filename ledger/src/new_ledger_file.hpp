// Making the file of a ledger.
#pragma once

#include <string>

#include "connection.hpp"
#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

/// Makes a file of mode 0600, its directory (0750) too if only that is missing, of what `fill` writes into an
/// empty one in one transaction. Nothing is ever overwritten; whatever `fill` throws, nothing is left.
/// Throws  LedgerUnusable (something is there), LedgerBusy, LedgerIo, and what `fill` throws, its
/// StorageFailure
///         translated.
void make_ledger_file(const std::string& path, accounting::CallbackRef<void(Connection&)> fill);

}  // namespace epsilog::ledger
