// Exact numbers in texts that the program wrote itself.
//
// What is typed has caps (rational.hpp: parse_rational). What was recorded has none: a number of six
// characters, 1e-400, is recorded with 402, and whatever once was recorded must be readable for ever.
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// Reads what text() wrote, `-?digits[.digits]` or `-?digits/digits`, of any length.
///
/// Ensures   parse_stored_rational(text(x), …) == x for every x, in time that does not grow with the square
///           of the length.
/// Throws    LedgerCorrupt naming `what` and the beginning of any other text.
///
/// There is no exponent in what was recorded.
[[nodiscard]] Rational parse_stored_rational(std::string_view text, std::string_view what);

}  // namespace epsilog::accounting
