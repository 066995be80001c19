// Grid units of a ledger account as text in its measure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "epsilog/ledger/record.hpp"

namespace epsilog::wire {

/// As engine::amount_text, of everything there is to an account.
struct AccountTexts {
  std::string limit;
  std::string spent;
  std::string reserved;
  std::string remaining;
};
[[nodiscard]] AccountTexts texts(const ledger::AccountState& account);

/// As engine::amount_text; of what no account of a sound ledger holds, the count of units and its measure.
[[nodiscard]] std::string amount_or_units(const std::string& measure, std::int64_t units);
/// The same of everything there is to an account, whatever it holds.
[[nodiscard]] AccountTexts texts_or_units(const ledger::AccountState& account);

/// "epsilon of dataset 'clinic', principal:bob, spent 0.5".
[[nodiscard]] std::string account_subject(const ledger::AccountState& account);

}  // namespace epsilog::wire
