// Making the file of a ledger.
#pragma once

#include <string>

#include "connection.hpp"
#include "epsilog/accounting/callback.hpp"

namespace epsilog::ledger {

/// Makes a file of mode 0600, its directory (0750) too if only that is missing, of what `fill` writes into an
/// empty one in one transaction. Nothing is ever overwritten; whatever `fill` throws, nothing is left.
/// `accept`, if there is one, is given the path of what was made and says whether it gets its name: false is
/// returned otherwise, and nothing is left. Throws  LedgerUnusable (something is there), LedgerBusy,
/// LedgerIo, and what `fill` throws, its StorageFailure
///         translated.
bool make_ledger_file(const std::string& path, accounting::CallbackRef<void(Connection&)> fill,
                      accounting::CallbackRef<bool(const std::string&)> accept = {});

}  // namespace epsilog::ledger
