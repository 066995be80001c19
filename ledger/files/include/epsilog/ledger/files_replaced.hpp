// A ledger whose files were moved, removed or replaced while it was open.
#pragma once

#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

/// The names L, L-wal and L-shm no longer lead to the files that are open. What this Ledger recorded last may
/// be in no ledger, so no value of it was told. This Ledger is over: every later call throws the same.
/// Destroy it and open the ledger again; then ask again with the same key. The ledger is not poisoned.
class FilesReplaced : public LedgerBusy {
 public:
  using LedgerBusy::LedgerBusy;
  [[nodiscard]] std::string_view code() const noexcept override { return "ledger_files_replaced"; }
};

}  // namespace epsilog::ledger
