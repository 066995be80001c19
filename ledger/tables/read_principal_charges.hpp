// The sums of principal_charges.hpp, by indices: what they cost grows with the charges in the window.
#pragma once

#include "connection.hpp"
#include "epsilog/ledger/principal_charges.hpp"

namespace epsilog::ledger {

/// Throws  StorageFailure, LedgerCorrupt.
[[nodiscard]] PrincipalCharges read_principal_charges(Connection& connection, const ChargeWindow& window,
                                                      std::int64_t now_ms);

}  // namespace epsilog::ledger
