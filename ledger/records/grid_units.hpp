// Amounts on the grid of a measure as quantities (docs/record_format.md): integers on one side, the decimal
// text on the other, and no exact arithmetic between.
//
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace epsilog::ledger {

/// The decimals of the grid of an account's measure: "epsilon" 12, "delta" 18, "rho" 15, "rdp(...)" 12.
/// Throws  InvalidParameter for another measure.
[[nodiscard]] int grid_decimals(std::string_view measure);

/// The text of `units` * 10^-decimals.
class UnitsText final {
 public:
  /// Requires  decimals from 0 to 18.
  UnitsText(std::int64_t units, int decimals);
  [[nodiscard]] std::string_view view() const { return {characters_.data(), size_}; }

 private:
  std::array<char, 24> characters_;  // a sign, a point and 20 digits
  std::size_t size_ = 0;
};

/// Ensures  UnitsText of it is `text`; from -2^61 to 2^61.
/// Throws   LedgerCorrupt.
[[nodiscard]] std::int64_t parse_units(std::string_view text, int decimals);

}  // namespace epsilog::ledger
