// The sums of asker_charges.hpp, by indices: what they cost grows with the charges in the window.
#pragma once

#include "connection.hpp"
#include "epsilog/ledger/asker_charges.hpp"

namespace epsilog::ledger {

/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] AskerCharges read_asker_charges(Connection& connection, const AskerWindow& window,
                                              std::int64_t now_ms);

}  // namespace epsilog::ledger
