// The error for a ledger that has fewer lines than its lock file remembers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "epsilog/ledger/replica.hpp"

namespace epsilog::ledger {

/// The ledger is shorter than L.lock remembers, or has another line where the last one stood: its log was
/// damaged or removed, or an older copy was put in its place. Nothing was recorded, settled, checkpointed or
/// cut off.
class LinesMissing : public LedgerRolledBack {
 public:
  /// `remembered` and `found` are numbers of lines. `found` is not smaller where the last remembered line was
  /// replaced by another one.
  LinesMissing(const std::string& message, std::int64_t remembered, std::int64_t found)
      : LedgerRolledBack(message), remembered_(remembered), found_(found) {}
  [[nodiscard]] std::int64_t remembered() const noexcept { return remembered_; }
  [[nodiscard]] std::int64_t found() const noexcept { return found_; }
  [[nodiscard]] std::string_view code() const noexcept override { return "lines_missing"; }

 private:
  std::int64_t remembered_;
  std::int64_t found_;
};

}  // namespace epsilog::ledger
