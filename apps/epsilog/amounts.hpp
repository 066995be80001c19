// Grid units of a ledger account as text in its measure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "epsilog/ledger/record.hpp"

namespace epsilog::command {

/// Canonical decimal: 100000000000 units of epsilon are "0.1".
/// Requires  measure is "epsilon", "delta" or "rho".
/// Throws    LedgerCorrupt for another measure.
[[nodiscard]] std::string amount_text(std::string_view measure, std::int64_t units);

struct AccountTexts {
  std::string limit;
  std::string spent;
  std::string reserved;
  std::string remaining;
};
[[nodiscard]] AccountTexts texts(const ledger::AccountState& account);

}  // namespace epsilog::command
