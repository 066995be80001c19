// What a cell looks like, whatever its column is. Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace epsilog::engine {

/// The texts that usually mean "missing". Only these may be named in a draft.
[[nodiscard]] std::span<const std::string_view> words_for_missing();
/// Whether a cell is one of the texts that usually mean "missing".
[[nodiscard]] bool means_missing(std::string_view cell);

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
/// A letter of ASCII, or a byte of another character.
[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
/// A text with each run of letters written as one letter and each run of digits as one digit: P0017 and Q9
/// have one shape.
[[nodiscard]] std::string shape_of(std::string_view text);
/// How many words or numbers a text consists of, whatever stands between them.
[[nodiscard]] std::size_t parts_of(std::string_view text);

}  // namespace epsilog::engine
