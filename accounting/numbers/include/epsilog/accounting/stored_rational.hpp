// Exact numbers in texts that the program wrote itself.
//
// What is typed has caps (rational.hpp: parse_rational). What was recorded has none: a number of six
// characters, 1e-400, is recorded with 402, and whatever once was recorded must be readable for ever.
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "epsilog/accounting/quantity.hpp"
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

/// The same where the text itself is to come back.
///
/// Ensures   text(parse_canonical_rational(x, …)) == x for every x that it takes.
/// Throws    LedgerCorrupt naming `what`, also for any other spelling of a number: "1.0", "01", "2/4", "-0".
[[nodiscard]] Rational parse_canonical_rational(std::string_view text, std::string_view what);

/// Reads what Quantity::text() wrote.
///
/// Ensures   parse_canonical_quantity<Measure>(x, …).text() == x for every x that it takes.
/// Throws    LedgerCorrupt naming `what`: as parse_canonical_rational, and for a negative number, one between
///           two units of the measure and one beyond its largest.
template <class Measure>
[[nodiscard]] Quantity<Measure> parse_canonical_quantity(std::string_view text, std::string_view what);

extern template Epsilon parse_canonical_quantity<EpsilonMeasure>(std::string_view, std::string_view);
extern template Delta parse_canonical_quantity<DeltaMeasure>(std::string_view, std::string_view);
extern template Rho parse_canonical_quantity<RhoMeasure>(std::string_view, std::string_view);

}  // namespace epsilog::accounting
