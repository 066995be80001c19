// Classes of ASCII characters as RFC 9110 and RFC 3986 have them; no locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace epsilog::serve {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// Printable ASCII or a blank: what a line of a head may hold. A tab is a control character.
[[nodiscard]] constexpr bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}
[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// RFC 9110, 5.6.2: of what names of methods, headers and options are made.
[[nodiscard]] constexpr bool is_token_character(char c) {
  return is_digit(c) || is_letter(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
[[nodiscard]] constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}
[[nodiscard]] constexpr bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// Whether it is `lower_case`, whatever the case of its letters.
[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return lower(a) == b; });
}

[[nodiscard]] constexpr std::string_view without_blanks_around(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace epsilog::serve
