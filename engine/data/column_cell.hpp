// Cells as typed values, and the values of one declared column as the statistics see them.
//
// A number is [+-]digits[.digits], for a double also with e[+-]digits; nothing is trimmed or guessed. Where
// the source has a character for thousands, the digits before the point may instead be one to three, not
// beginning with 0, and then one or more groups of that character and three. Whatever does not parse is
// missing.
// Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

/// How numbers and dates are written. As it stands, how a policy writes the declared values of a column.
struct CellDialect {
  char decimal_point = '.';
  std::string thousands = {};  ///< "": none
  DateFormat dates = DateFormat::year_month_day;

  [[nodiscard]] static CellDialect of(const Dataset& dataset);
};

/// Reads cells of one column.
class CellReader final {
 public:
  CellReader(ColumnType type, unsigned scale, CellDialect dialect)
      : type_(type), scale_(scale), dialect_(std::move(dialect)) {}
  /// The reader for a column of the dataset, in the dialect of its source.
  [[nodiscard]] static CellReader of(const Dataset& dataset, const Column& column);

  [[nodiscard]] Cell read(const RawCell& raw) const {
    Cell cell;
    read(raw, cell);
    return cell;
  }
  /// In its place: `cell` was never written, or by a reader of the same type.
  void read(const RawCell& raw, Cell& cell) const;

 private:
  [[nodiscard]] bool read_fixed(std::string_view text, Int128& value) const;
  /// The same of a text of at most 18 characters in a dialect without groups.
  [[nodiscard]] bool read_short_fixed(std::string_view text, Int128& value) const;
  [[nodiscard]] bool read_real(std::string_view text, double& value) const;
  [[nodiscard]] bool read_date(std::string_view text, Int128& value) const;
  /// The number without its groups, in `room`; as it is where it has none, or none that are right.
  [[nodiscard]] std::string_view without_groups(std::string_view text, std::string& room) const;

  ColumnType type_;
  unsigned scale_;
  CellDialect dialect_;
};

/// The nearest representable cells at or above and at or below a rational, for exact comparisons.
struct FixedRounding {
  Int128 up;
  Int128 down;
};
struct RealRounding {
  double up;    ///< +infinity above the largest finite number
  double down;  ///< -infinity below the smallest
};
/// Beyond +-kFixedMax both ends are the first integer outside, which no cell equals.
[[nodiscard]] FixedRounding round_fixed(const Rational& value, unsigned scale);
[[nodiscard]] RealRounding round_real(const Rational& value);

/// Of a cell that stands at none of the places there are. An optional would be put together in two parts and
/// loaded in one, while they are on their way to memory.
inline constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

/// Finds a cell among the declared values of a column.
class DeclaredValues final {
 public:
  explicit DeclaredValues(const Column& column);
  /// The position of the value in the order declared; kNoIndex for another value. A missing cell is where
  /// its stand-in is.
  [[nodiscard]] std::size_t find(const Cell& cell) const;

 private:
  [[nodiscard]] std::size_t of_text(std::string_view text) const;
  [[nodiscard]] std::size_t of_number(Int128 number) const;

  ColumnType type_;
  std::vector<std::pair<std::string, std::size_t>> texts_;  ///< sorted; string columns
  std::vector<std::uint32_t> begins_;                       ///< of those with each first byte, in texts_
  std::vector<std::pair<Int128, std::size_t>> numbers_;     ///< sorted; int, bool and date columns
  /// Place of each number from the first on, where they lie near each other.
  std::vector<std::size_t> near_;
  std::size_t stand_in_ = kNoIndex;
};

}  // namespace epsilog::engine
