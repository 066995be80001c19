// Cells as typed values, and the values of one declared column as the statistics see them.
//
// A number is [+-]digits[.digits], for a double also with e[+-]digits; nothing is trimmed, grouped
// or guessed. Whatever does not parse is missing.
// Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epsilog/engine/policy.hpp"
#include "exact_sum.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

/// Integers and decimals are read up to this size, counted in units of the column's scale; beyond it
/// they are taken as this size. It leaves room for one more decimal digit in an Int128.
inline constexpr Int128 kFixedMax = Int128{1'000'000'000'000'000'000} * Int128{1'000'000'000'000'000'000};

struct Cell {
  bool missing = true;
  /// int: the value; decimal: value * 10^scale; bool: 0 or 1; date: days since 1970-01-01.
  Int128 fixed = 0;
  double real = 0;        ///< double: finite
  std::string_view text;  ///< string
};

/// Reads cells of one column.
class CellReader final {
 public:
  CellReader(ColumnType type, unsigned scale, char decimal_point)
      : type_(type), scale_(scale), decimal_point_(decimal_point) {}
  /// The reader for a column of the dataset, in the dialect of its source.
  [[nodiscard]] static CellReader of(const Dataset& dataset, const Column& column);

  [[nodiscard]] Cell read(const RawCell& raw) const;

 private:
  [[nodiscard]] bool read_fixed(std::string_view text, Int128& value) const;
  [[nodiscard]] bool read_real(std::string_view text, double& value) const;

  ColumnType type_;
  unsigned scale_;
  char decimal_point_;
};

/// The nearest representable cells at or above and at or below a rational, for exact comparisons.
struct FixedPlace {
  Int128 up;
  Int128 down;
};
struct RealPlace {
  double up;    ///< +infinity above the largest finite number
  double down;  ///< -infinity below the smallest
};
/// Beyond +-kFixedMax both ends are the first integer outside, which no cell equals.
[[nodiscard]] FixedPlace place_fixed(const Rational& value, unsigned scale);
[[nodiscard]] RealPlace place_real(const Rational& value);

/// Finds a cell among the declared values of a column.
class DeclaredValues final {
 public:
  explicit DeclaredValues(const Column& column);
  /// The position of the value in the order declared; empty for another value. A missing cell is
  /// where its stand-in is.
  [[nodiscard]] std::optional<std::size_t> find(const Cell& cell) const;

 private:
  ColumnType type_;
  std::vector<std::pair<std::string, std::size_t>> texts_;  ///< sorted; string columns
  std::vector<std::pair<Int128, std::size_t>> numbers_;     ///< sorted; int, bool and date columns
  std::optional<std::size_t> stand_in_;
};

}  // namespace epsilog::engine
