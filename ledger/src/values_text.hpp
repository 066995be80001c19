// Drawn and published values as a decision's row and line have them: arrays of quantities in canonical JSON.
//
// Reading throws LedgerCorrupt naming the column for whatever is not written so.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::ledger {

/// ["1.5","2/3"]
[[nodiscard]] std::string values_text(const std::vector<accounting::Rational>& values);
[[nodiscard]] std::vector<accounting::Rational> parse_values(std::string_view text, const char* column);

/// [["1.5","2/3"],["4"]]
[[nodiscard]] std::string nested_values_text(const std::vector<std::vector<accounting::Rational>>& values);
[[nodiscard]] std::vector<std::vector<accounting::Rational>> parse_nested_values(std::string_view text,
                                                                                 const char* column);

}  // namespace epsilog::ledger
