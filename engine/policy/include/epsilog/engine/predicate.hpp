// The public predicate of --where: comparisons of declared columns with constants, joined by `and`, `or`,
// `not` and parentheses.
//
//   predicate  = all { "or" all }
//   all        = term { "and" term }
//   term       = { "not" } ( comparison | "(" predicate ")" )
//   comparison = column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) constant
//              | column [ "not" ] "in" "(" constant { "," constant } ")"
//              | column [ "not" ] "between" constant "and" constant
//              | column "is" [ "not" ] "missing"
//   constant   = number | 'string' ('' inside a string is a quote) | true | false | 2024-01-31
//   column     = name | "any name" ("" inside is a quote)
//
// A bare name is letters, digits, '_' and non-ASCII characters, not starting with a digit; `and`,
// `in`, `true` and `false` are words of the grammar in any case, so a column of that name is quoted. So are
// `or`, `not`, `between`, `is` and `missing`, which came later: as a bare name before = != < <= > >= or in
// one of them is read as what older programs wrote, and is refused of who types it (new_request_fault()).
//
// A comparison with a missing cell is false, != and `not in` included; `is missing` alone is true of it, and
// `is not missing` of every other. A cell for which the column declares a stand-in is not missing. Cells are
// compared as read, before any clamping to bounds.
//
// What is kept has no `not` and no `between`: a negation is moved inward, to the opposite comparison, so that
// a missing cell satisfies neither `a = 5` nor `not a = 5`; `a between 1 and 2` is `a >= 1 and a <= 2`.
// Thread-safety: immutable values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::engine {

struct Comparison {
  enum class Operator {
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    not_in,
    missing,
    not_missing
  };
  /// Days since 1970-01-01 of a date constant.
  struct Date {
    std::int64_t days = 0;
    friend auto operator<=>(const Date&, const Date&) = default;
  };
  using Constant = std::variant<accounting::Rational, std::string, bool, Date>;

  std::string column;
  Operator op = Operator::equal;
  std::vector<Constant> constants;  ///< one; of in and not_in one or more; of missing and not_missing none

  /// As Predicate::text() has it.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Comparison&, const Comparison&) = default;
};

/// How the comparisons of a predicate are joined.
struct Condition {
  enum class Kind { comparison, all, any };

  Kind kind = Kind::comparison;
  std::size_t index = 0;         ///< of a comparison: in Predicate::comparisons()
  std::vector<Condition> parts;  ///< of all and any: two or more, none of them of the same kind

  friend bool operator==(const Condition&, const Condition&) = default;
};

class Predicate final {
 public:
  /// How many parentheses may stand within one another, lists of constants aside. A `between` counts as one,
  /// because text() writes it out.
  static constexpr std::size_t kDepthMax = 32;

  /// Reads UTF-8 of any length: what is typed and what was recorded, where 1e-400 has 402 characters.
  /// Throws  InvalidParameter naming the 1-based character position and what was expected.
  [[nodiscard]] static Predicate parse(std::string_view text);

  /// All of them, in the order of the text.
  [[nodiscard]] const std::vector<Comparison>& comparisons() const noexcept { return comparisons_; }
  [[nodiscard]] const Condition& condition() const noexcept { return condition_; }
  /// What is asked of one column: the predicate with every comparison with another one taken as satisfied.
  /// Nothing if all cells of the column satisfy that.
  [[nodiscard]] std::optional<Predicate> about(std::string_view column) const;
  /// Canonical text: single blanks, canonical constants, no parentheses but around `or` beside `and`; parses
  /// to the same predicate, since it has no more parentheses within one another than what was parsed.
  [[nodiscard]] std::string text() const;
  /// The same of a part.
  /// Requires  it is one of condition().
  [[nodiscard]] std::string text(const Condition& part) const;
  /// Why the text is not taken from whoever asks, though it is read: it has more than 65,536 bytes, a number
  /// of more than 400 characters, or a later word of the grammar as a name. "" if it is. Plays no part in
  /// comparisons.
  [[nodiscard]] const std::string& new_request_fault() const noexcept { return new_request_fault_; }

  friend bool operator==(const Predicate& a, const Predicate& b) {
    return a.comparisons_ == b.comparisons_ && a.condition_ == b.condition_;
  }

 private:
  std::vector<Comparison> comparisons_;
  Condition condition_;
  std::string new_request_fault_;
};

/// Whether a name is a word of conditions, in any case, and always was one.
[[nodiscard]] bool is_condition_word(std::string_view name);
/// The same of the words that came later; stored policies and conditions have columns of these names.
[[nodiscard]] bool is_later_condition_word(std::string_view name);

}  // namespace epsilog::engine
