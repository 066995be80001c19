// The measures of accounts: how an account's integers are called, read and justified.
//
//   "epsilon"  10^-12 nats of pure or approximate loss
//   "delta"    10^-18 of probability
//   "rho"      10^-15 of zCDP's rho; "rdp(8)" 10^-12 nats of Renyi divergence at order 8
//
// Rows and answers hold these texts; whatever computes has an AccountMeasure. Thread-safety: pure functions
// of immutable values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::engine {

struct AccountMeasure {
  enum class Kind : std::uint8_t { epsilon, delta, rho, renyi };
  Kind kind = Kind::epsilon;
  accounting::Rational order = 0;  ///< of renyi, > 1; 0 otherwise

  [[nodiscard]] std::string text() const;
  /// Of one grid unit.
  [[nodiscard]] int decimals() const;

  friend bool operator==(const AccountMeasure& a, const AccountMeasure& b) {
    return a.kind == b.kind && a.order == b.order;
  }
  friend std::strong_ordering operator<=>(const AccountMeasure& a, const AccountMeasure& b) {
    if (a.kind != b.kind) return a.kind <=> b.kind;
    return cmp(a.order, b.order) <=> 0;
  }
};

/// Inverse of AccountMeasure::text(); nothing for a text that names no measure.
[[nodiscard]] std::optional<AccountMeasure> parse_measure(std::string_view text);

/// Canonical decimal text of grid units of a measure.
/// Throws  LedgerCorrupt for an unknown measure; InvalidParameter if units are negative or above 2^61.
[[nodiscard]] std::string amount_text(std::string_view measure, std::int64_t units);
/// The same of any count of units: what a release would cost may be more than an account can hold.
/// Throws  LedgerCorrupt for an unknown measure.
[[nodiscard]] std::string amount_text(std::string_view measure, const accounting::Integer& units);

/// Why the sum kept in an account of this measure may refuse releases whose parameters were chosen after
/// seeing earlier ones: one line naming theorem and source.
/// Throws  LedgerCorrupt for an unknown measure.
[[nodiscard]] std::string_view filter_theorem(std::string_view measure);

}  // namespace epsilog::engine
