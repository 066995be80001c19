// The measures of accounts: how an account's integers are called, read and justified.
//
//   "epsilon"  10^-12 nats of pure or approximate loss
//   "delta"    10^-18 of probability
//   "rho"      10^-15 of zCDP's rho; "rdp(8)" 10^-12 nats of Renyi divergence at order 8
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::engine {

/// Canonical decimal text of grid units of a measure.
/// Throws  LedgerCorrupt for an unknown measure; InvalidParameter if units are negative or above 2^61.
[[nodiscard]] std::string amount_text(std::string_view measure, std::int64_t units);
/// The same of any count of units: what a release would cost may be more than an account can hold.
[[nodiscard]] std::string amount_text(std::string_view measure, const accounting::Integer& units);

/// "rdp(5/2)".
/// Requires  order > 1.
[[nodiscard]] std::string renyi_measure(const accounting::Rational& order);
/// The order of such a text; nothing for another measure.
[[nodiscard]] std::optional<accounting::Rational> renyi_order(std::string_view measure);

/// Why the sum kept in an account of this measure may refuse releases whose parameters were chosen after
/// seeing earlier ones: one line naming theorem and source.
/// Throws  LedgerCorrupt for an unknown measure.
[[nodiscard]] std::string_view filter_theorem(std::string_view measure);

}  // namespace epsilog::engine
