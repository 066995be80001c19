// Reading lines of canonical JSON: the one text that a value has, and no other.
//
//   value    = object | array | string | count | "true" | "false"
//   object   = "{" [ name ":" value { "," name ":" value } ] "}"   names: plain ASCII, ascending bytewise
//   array    = "[" [ value { "," value } ] "]"
//   string   UTF-8, escaped is only what RFC 8785, section 3.2.2.2, escapes
//   count    = "0" | a digit 1 to 9 and more digits, at most 2^53 - 1
//
// No blanks, no null, no other numbers; what does not apply is left out. So every line is what RFC 8785 makes
// of its value, and two values have different lines. Within strings: bytes that are no UTF-8 are the object
// {"hex":"…"}; exact numbers are quantities.
//
// JsonWriter writes all of this; its caller sees to the order of names. Whatever else is read throws
// LedgerCorrupt saying where and what is wrong, and whoever reads adds which line it was.
//
// Thread-safety: pure functions; values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::ledger {

/// More is not read: what a column of SQLite holds, and what no record comes near.
inline constexpr std::size_t kLineBytesMax = 1'000'000'000;
inline constexpr unsigned kLineDepthMax = 32;
/// Characters of a quantity at most, with sign, point and bar.
inline constexpr std::size_t kQuantityCharactersMax = 20'000;

/// Every accessor throws LedgerCorrupt if the value is of another kind.
class JsonValue final {
 public:
  enum class Kind : std::uint8_t { object, array, string, count, truth };

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& text() const;
  /// A string, or the bytes of {"hex":"…"}, which are not UTF-8.
  [[nodiscard]] std::string bytes() const;
  /// A string in the one spelling of its number (epsilog/accounting/stored_rational.hpp).
  [[nodiscard]] accounting::Rational quantity() const;
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] bool truth() const;
  [[nodiscard]] const std::vector<JsonValue>& items() const;
  /// In byte order.
  [[nodiscard]] const std::vector<std::string>& names() const;
  /// Throws LedgerCorrupt naming it, too, if there is none of that name.
  [[nodiscard]] const JsonValue& at(std::string_view name) const;
  /// nullptr: none of that name.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;

 private:
  friend class CanonicalReader;
  void require(Kind kind) const;

  Kind kind_ = Kind::object;
  std::uint64_t count_ = 0;  ///< truth: 0 or 1
  std::string text_;
  std::vector<std::string> names_;  ///< of an object, each beside its item
  std::vector<JsonValue> items_;
};

/// Of any bytes, which may be a part of a line that is in `depth` objects and arrays.
/// Throws  LedgerCorrupt unless they are one canonical value.
[[nodiscard]] JsonValue parse_canonical(std::string_view line, unsigned depth = 0);

}  // namespace epsilog::ledger
