// The error for a ledger whose folder lies on a network file system.
#pragma once

#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

/// The folder lies on a network file system. Two machines that share it would have an index of the log each,
/// and neither would see the other's charges. Nothing was opened or made.
class NetworkFileSystem : public LedgerUnusable {
 public:
  using LedgerUnusable::LedgerUnusable;
  [[nodiscard]] std::string_view code() const noexcept override { return "network_file_system"; }
};

}  // namespace epsilog::ledger
