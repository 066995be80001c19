// A caller that no longer waits for the writer lock of a ledger.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

/// The stop token of the ledger's options was stopped while a call waited for another writer. The wait changed
/// nothing; what the call had recorded before it began to wait stays, as of any LedgerBusy.
class WaitStopped final : public LedgerBusy {
 public:
  using LedgerBusy::LedgerBusy;
  [[nodiscard]] std::string_view code() const noexcept override { return "wait_stopped"; }
  /// Returns the error of a wait for the ledger at that path.
  [[nodiscard]] static WaitStopped of_ledger(const std::string& path) {
    return WaitStopped("ledger " + path + " is in use, and the caller stopped waiting for it");
  }
};

}  // namespace epsilog::ledger
