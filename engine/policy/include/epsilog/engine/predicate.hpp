// The public predicate of --where: comparisons of declared columns with constants, joined by `and`.
//
//   predicate  = comparison { "and" comparison }
//   comparison = column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) constant
//              | column "in" "(" constant { "," constant } ")"
//   constant   = number | 'string' ('' inside a string is a quote) | true | false | 2024-01-31
//   column     = name | "any name" ("" inside is a quote)
//
// A bare name is letters, digits, '_' and non-ASCII characters, not starting with a digit; `and`,
// `in`, `true` and `false` are words of the grammar in any case, so a column of that name is quoted.
//
// A comparison with a missing cell is false, != included. A cell for which the column declares a
// stand-in is not missing. Cells are compared as read, before any clamping to bounds.
// Thread-safety: immutable values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::engine {

struct Comparison {
  enum class Operator { equal, not_equal, less, less_equal, greater, greater_equal, in };
  /// Days since 1970-01-01 of a date constant.
  struct Date {
    std::int64_t days = 0;
    friend auto operator<=>(const Date&, const Date&) = default;
  };
  using Constant = std::variant<accounting::Rational, std::string, bool, Date>;

  std::string column;
  Operator op = Operator::equal;
  std::vector<Constant> constants;  ///< one, or for `in` one or more

  /// As Predicate::text() has it.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Comparison&, const Comparison&) = default;
};

class Predicate final {
 public:
  /// Reads UTF-8 of any length: what is typed and what was recorded, where 1e-400 has 402 characters.
  /// Throws  InvalidParameter naming the 1-based character position and what was expected.
  [[nodiscard]] static Predicate parse(std::string_view text);

  [[nodiscard]] const std::vector<Comparison>& comparisons() const noexcept { return comparisons_; }
  /// Canonical text: single blanks, canonical constants; parses to the same predicate.
  [[nodiscard]] std::string text() const;
  /// In what the text was longer than is taken from whoever asks: 65,536 bytes, 400 characters a number; ""
  /// when it was not. Plays no part in comparisons.
  [[nodiscard]] const std::string& too_long() const noexcept { return too_long_; }

  friend bool operator==(const Predicate& a, const Predicate& b) { return a.comparisons_ == b.comparisons_; }

 private:
  std::vector<Comparison> comparisons_;
  std::string too_long_;
};

}  // namespace epsilog::engine
