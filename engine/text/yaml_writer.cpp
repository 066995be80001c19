#include "yaml_writer.hpp"

#include <algorithm>
#include <array>

#include "epsilog/engine/utf8.hpp"
#include "yaml_text.hpp"

namespace epsilog::engine::yaml {
namespace {

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Words that some YAML reader takes for a bool or a null, in any case.
bool is_a_word_of_yaml(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on",
                                                             "off",  "null",  "y",   "n"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

/// Letters first, and then nothing that means something to YAML anywhere in a line.
bool is_plain(std::string_view text) {
  static constexpr std::string_view kHarmless = "0123456789_.-/+";
  if (text.empty() || !(is_letter(text[0]) || text[0] == '_') || is_a_word_of_yaml(text)) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || kHarmless.find(c) != std::string_view::npos; });
}

char hex_digit(unsigned value) {
  return "0123456789ABCDEF"[value % 16];
}

/// U+FFFF, which is no character and is escaped, for what is not UTF-8.
char32_t code_point(std::string_view point) {
  const CodePoint decoded = code_point_at(point, 0);
  return decoded.bytes == 0 ? 0xFFFF : decoded.value;
}

void append_escaped(std::string& quoted, std::string_view point) {
  const char c = point[0];
  if (point.size() == 1 && c == '"') {
    quoted += "\\\"";
  } else if (point.size() == 1 && c == '\\') {
    quoted += "\\\\";
  } else {
    const char32_t value = code_point(point);
    std::size_t digits = 2;
    if (value > 0xFF) digits = 4;
    if (value > 0xFFFF) digits = 8;
    quoted += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (std::size_t i = digits; i > 0; --i) {
      quoted += hex_digit(static_cast<unsigned>(value >> (4 * (i - 1))));
    }
  }
}

template <class Visit>
void each_point(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    visit(text.substr(at, end - at));
    at = end;
  }
}

bool shows(std::string_view point) {
  return !is_hidden(code_point(point)) && point != "\t" && point != "\n" && point != "\r";
}

}  // namespace

std::string scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  each_point(text, [&](std::string_view point) {
    if (shows(point) && point != "\"" && point != "\\") {
      quoted += point;
    } else {
      append_escaped(quoted, point);
    }
  });
  return quoted + "\"";
}

std::string sequence(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? ", " : "") + scalar(text);
  return list + "]";
}

std::string comment(std::string_view text, std::string_view margin, std::size_t width) {
  std::string harmless;
  each_point(text, [&](std::string_view point) { harmless += shows(point) ? point : "?"; });
  std::string lines;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) lines += std::string(margin) + "#" + line + "\n";
    line.clear();
  };
  for (std::size_t at = 0; at < harmless.size();) {
    const std::size_t end = std::min(harmless.find(' ', at), harmless.size());
    const std::string word = " " + harmless.substr(at, end - at);
    if (!line.empty() && margin.size() + 1 + line.size() + word.size() > width) flush();
    line += word;
    at = end + 1;
  }
  flush();
  return lines;
}

}  // namespace epsilog::engine::yaml
