#include "printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "epsilog/engine/utf8.hpp"

namespace epsilog::command {
namespace {

using engine::code_point_at;
using engine::CodePoint;

bool is_control(const CodePoint& point) {
  return point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
}

/// What would change the order in which a terminal shows its neighbours (UAX #9), end the line, or be a byte
/// order mark, which nobody sees and which makes two texts differ.
bool steers_the_line(char32_t point) {
  return point == 0xFEFF || point == 0x061C || point == 0x200E || point == 0x200F ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

std::string escaped(char32_t point) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(point));
  return text.data();
}

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [point](const Range& range) { return point >= range.first && point <= range.last; });
}

/// Combining marks and joiners of the scripts most written: they take no column of their own.
constexpr std::array<Range, 20> kNoColumn = {
    {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05C7}, {0x0610, 0x061A},
     {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x0900, 0x0902}, {0x093C, 0x093C},
     {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
     {0x200B, 0x200D}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}}};
/// East Asian Wide and Fullwidth (UAX #11), and emoji.
constexpr std::array<Range, 14> kTwoColumns = {{{0x1100, 0x115F},
                                                {0x2E80, 0x303E},
                                                {0x3041, 0x33FF},
                                                {0x3400, 0x4DBF},
                                                {0x4E00, 0x9FFF},
                                                {0xA000, 0xA4CF},
                                                {0xAC00, 0xD7A3},
                                                {0xF900, 0xFAFF},
                                                {0xFE30, 0xFE6F},
                                                {0xFF01, 0xFF60},
                                                {0xFFE0, 0xFFE6},
                                                {0x1F300, 0x1F64F},
                                                {0x1F900, 0x1F9FF},
                                                {0x20000, 0x3FFFD}}};

std::string hex_byte(unsigned byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return std::string("\\x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
}

}  // namespace

bool is_printable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.bytes == 0 || is_control(point)) return false;
    at += point.bytes;
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.bytes < 2 && (point.bytes == 0 || is_control(point))) {
      result += hex_byte(static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    const bool inert = !is_control(point) && !steers_the_line(point.value);
    result += inert ? std::string(text.substr(at, point.bytes)) : escaped(point.value);
    at += point.bytes;
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\n\t");
    result += printable(text.substr(0, end));
    if (end == std::string_view::npos) break;
    result += text[end];
    text.remove_prefix(end + 1);
  }
  return result;
}

std::size_t display_width(std::string_view printable_text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < printable_text.size();) {
    const auto [point, bytes] = code_point_at(printable_text, at);
    if (point < 0x0300) {
      ++width;
    } else if (!is_in(kNoColumn, point)) {
      width += is_in(kTwoColumns, point) ? 2 : 1;
    }
    at += std::max<std::size_t>(1, bytes);
  }
  return width;
}

namespace {

/// Words of the text, each with the blanks before it.
std::string_view next_word(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  const std::size_t end = std::min(rest.find(' ', begin), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t first, std::size_t margin) {
  std::string result;
  std::size_t used = first;
  bool at_start = true;
  while (!text.empty()) {
    std::string_view word = next_word(text);
    const std::size_t blanks = std::min(word.find_first_not_of(' '), word.size());
    if (blanks == word.size()) break;  // blanks at the end
    if (!at_start && used + display_width(word) > width) {
      result += "\n" + std::string(margin, ' ');
      used = margin;
      word.remove_prefix(blanks);
    }
    result += word;
    used += display_width(word);
    at_start = false;
  }
  return result;
}

}  // namespace epsilog::command
