// JSON texts, written member by member: canonical ones (canonical_json.hpp), if the caller writes the names
// of an object in byte order and no negative number.
//
// Thread-safety: pure functions; a writer belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::ledger {

/// Above, a double has not every integer (RFC 8785, appendix D): larger numbers stand in texts.
inline constexpr std::uint64_t kJsonCountMax = (std::uint64_t{1} << 53U) - 1;

/// Whether the character is its own JSON text in a string: printable ASCII, no quote, no backslash.
[[nodiscard]] constexpr bool is_plain_json(char c) noexcept {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}
/// Whether all of it is.
[[nodiscard]] bool is_plain_json(std::string_view text);

/// Appends the string in quotes as RFC 8785, section 3.2.2.2, has it: escaped is only what must be.
/// Returns  false if it is not UTF-8, and then appends nothing.
[[nodiscard]] bool append_json_string(std::string& json, std::string_view text);

/// Appends JSON text directly: building a tree first would be most of the cost of recording a release.
class JsonWriter final {
 public:
  /// About so many bytes will be written.
  void reserve(std::size_t bytes) { json_.reserve(bytes); }
  JsonWriter& raw(std::string_view json) {
    json_ += json;
    return *this;
  }
  /// Throws  InvalidParameter if it is not UTF-8.
  JsonWriter& text(std::string_view text);
  /// The text, or `{"hex":"…"}` of bytes that are not UTF-8.
  JsonWriter& bytes(std::string_view bytes);
  /// A number of things, or of one thing among others.
  /// Requires  value <= kJsonCountMax.
  JsonWriter& count(std::uint64_t value);
  /// `name` is a plain word.
  JsonWriter& field(std::string_view name) {
    if (json_.back() != '{') json_ += ',';
    json_.append(1, '"').append(name).append("\":");
    return *this;
  }
  JsonWriter& field(std::string_view name, std::string_view value) { return field(name).text(value); }
  JsonWriter& field(std::string_view name, std::int64_t value) {
    return field(name).raw(std::to_string(value));
  }
  /// An array of what `write_one` makes of each item.
  template <class Items, class WriteOne>
  JsonWriter& array(const Items& items, WriteOne write_one) {
    json_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) json_ += ',';
      first = false;
      write_one(item);
    }
    json_ += ']';
    return *this;
  }
  JsonWriter& values(const std::vector<accounting::Rational>& numbers) {
    return array(numbers, [&](const accounting::Rational& number) { text(accounting::text(number)); });
  }
  [[nodiscard]] std::string take() { return std::move(json_); }

 private:
  std::string json_;
};

}  // namespace epsilog::ledger
