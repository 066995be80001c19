// Privacy loss on its grid: epsilon, delta and rho as integers that cannot be confused.
//
// Nothing here is a double and nothing converts from one. There is no operator+: adding two losses
// is a composition theorem and has a name (epsilog/accounting/composition.hpp).
// Thread-safety: values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::accounting {

/// The largest count of grid units a quantity may hold, 2^61: four such numbers still add in int64,
/// and SQLite's integer expressions cannot overflow.
inline constexpr std::int64_t kUnitsMax = std::int64_t{1} << 61;

/// The scale of a measure: how its quantities are called and how fine their grid is.
struct EpsilonMeasure {
  static constexpr const char* name = "epsilon";
  static constexpr int decimals = 12;  ///< one unit is 10^-12 nats
  static constexpr std::int64_t units_max = kUnitsMax;
};
struct DeltaMeasure {
  static constexpr const char* name = "delta";
  static constexpr int decimals = 18;  ///< one unit is a probability of 10^-18
  static constexpr std::int64_t units_max = 1'000'000'000'000'000'000;  ///< delta <= 1
};
struct RhoMeasure {
  static constexpr const char* name = "rho";
  static constexpr int decimals = 15;  ///< one unit is 10^-15 of zCDP's rho
  static constexpr std::int64_t units_max = kUnitsMax;
};

/// A non-negative amount of one measure, exact on its grid.
template <class Measure>
class Quantity final {
 public:
  /// Zero.
  constexpr Quantity() = default;

  /// Throws  InvalidParameter unless 0 <= units <= units_max.
  [[nodiscard]] static Quantity from_units(std::int64_t units);

  /// The largest grid value not above / the smallest not below `value`.
  /// Throws  InvalidParameter if value is negative or the result does not fit.
  [[nodiscard]] static Quantity from_rational_down(const Rational& value);
  [[nodiscard]] static Quantity from_rational_up(const Rational& value);

  /// As parse_rational, then onto the grid. What is asked for and what is budgeted rounds down,
  /// what is charged rounds up.
  /// Throws  InvalidParameter.
  [[nodiscard]] static Quantity parse_down(std::string_view text);
  [[nodiscard]] static Quantity parse_up(std::string_view text);

  /// Grid units, 0..units_max.
  [[nodiscard]] constexpr std::int64_t units() const noexcept { return units_; }
  /// The exact value.
  [[nodiscard]] Rational rational() const;
  /// Canonical decimal text, "0.1".
  [[nodiscard]] std::string text() const;

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  explicit constexpr Quantity(std::int64_t units) : units_(units) {}
  std::int64_t units_ = 0;
};

using Epsilon = Quantity<EpsilonMeasure>;
using Delta = Quantity<DeltaMeasure>;
using Rho = Quantity<RhoMeasure>;

extern template class Quantity<EpsilonMeasure>;
extern template class Quantity<DeltaMeasure>;
extern template class Quantity<RhoMeasure>;

}  // namespace epsilog::accounting
