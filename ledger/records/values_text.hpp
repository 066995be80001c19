// Drawn and published values as a decision's row and line have them: arrays of quantities in canonical JSON.
//
// Reading throws LedgerCorrupt naming the column for whatever is not written so.
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// ["1.5","2/3"]
[[nodiscard]] std::string values_text(const std::vector<accounting::Rational>& values);
[[nodiscard]] std::vector<accounting::Rational> parse_values(std::string_view text, const char* column);

/// [["1.5","2/3"],["4"]]; or [[12,-3],["0.5"]], of each component how many steps of its grid, where it has
/// several values and all are such. Without components all are quantities.
[[nodiscard]] std::string drawn_text(const std::vector<std::vector<accounting::Rational>>& values,
                                     std::span<const ComponentRecord> components);
/// Of either kind; one value by itself may be in steps too.
[[nodiscard]] std::vector<std::vector<accounting::Rational>> parse_drawn(
    std::string_view text, const char* column, std::span<const ComponentRecord> components);

}  // namespace epsilog::ledger
