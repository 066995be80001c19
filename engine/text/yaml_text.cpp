#include "yaml_text.hpp"

#include <algorithm>
#include <cstdint>

#include "epsilog/engine/utf8.hpp"

namespace epsilog::engine::yaml {
namespace {

std::string hex(std::uint32_t value, std::size_t digits) {
  std::string result;
  while (value != 0 || result.size() < digits) {
    result.insert(result.begin(), "0123456789ABCDEF"[value % 16]);
    value /= 16;
  }
  return result;
}

std::optional<std::string> why_refused(std::string_view line, std::size_t at, const CodePoint& point) {
  if (point.bytes == 0) {
    return "the byte 0x" + hex(static_cast<unsigned char>(line[at]), 2) +
           " is not UTF-8: save the file as UTF-8";
  }
  if (point.value == '\r') return "a carriage return inside a line: end lines with LF or CR LF";
  if (is_hidden(point.value)) {
    return "the character U+" + hex(point.value, 4) + " does not show in an editor: remove it";
  }
  return std::nullopt;
}

/// A quote or bracket opens something only where a value or key may start.
bool starts_token(std::string_view line, std::size_t at) {
  if (at == 0) return true;
  const char before = line[at - 1];
  return before == ' ' || before == '\t' || before == '[' || before == '{' || before == ',';
}

/// Whether what precedes on the line lets a value start here (rather than being inside plain text).
bool value_may_start(std::string_view line, std::size_t at, bool in_flow) {
  std::size_t i = at;
  while (i > 0 && (line[i - 1] == ' ' || line[i - 1] == '\t')) --i;
  if (i == 0) return true;
  const char before = line[i - 1];
  return before == ':' || before == '-' || before == '?' ||
         (in_flow && (before == ',' || before == '[' || before == '{'));
}

}  // namespace

bool is_hidden(char32_t point) {
  const bool control =
      (point < 0x20 && point != '\t' && point != '\n' && point != '\r') || (point >= 0x7F && point < 0xA0);
  const bool separator = point == 0x2028 || point == 0x2029;
  const bool formatting = (point >= 0x200B && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
                          (point >= 0x2060 && point <= 0x2069) || point == 0xFEFF || point == 0xFFFE ||
                          point == 0xFFFF;
  return control || separator || formatting;
}

SourceText::SourceText(std::string_view text) : text_(text), starts_{0}, points_before_{0} {
  points_before_.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    points_before_.push_back(points_before_.back() + (begins ? 1 : 0));
    if (text[i] == '\n') starts_.push_back(i + 1);
  }
}

std::string_view SourceText::line(std::size_t line) const {
  const std::size_t begin = starts_[line];
  const std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] - 1 : text_.size();
  std::string_view result = text_.substr(begin, end - begin);
  if (!result.empty() && result.back() == '\r') result.remove_suffix(1);
  return result;
}

Mark SourceText::mark(std::size_t line_index, std::size_t byte) const {
  const std::size_t last = std::min(line_index, lines() - 1);
  const std::size_t begin = starts_[last];
  const std::size_t points =
      points_before_[begin + std::min(byte, line(last).size())] - points_before_[begin];
  return {static_cast<int>(last) + 1, static_cast<int>(points) + 1};
}

std::string_view SourceText::rest(std::size_t line_index, std::size_t byte) const {
  if (line_index >= lines()) return {};
  const std::string_view whole = line(line_index);
  return byte < whole.size() ? whole.substr(byte) : std::string_view{};
}

std::optional<Problem> find_bad_character(const SourceText& source) {
  bool content_seen = false;
  for (std::size_t n = 0; n < source.lines(); ++n) {
    const std::string_view line = source.line(n);
    for (std::size_t at = 0; at < line.size();) {
      const CodePoint point = code_point_at(line, at);
      if (auto why = why_refused(line, at, point)) return Problem{source.mark(n, at), *std::move(why)};
      at += point.bytes;
    }
    const std::size_t content = line.find_first_not_of(" \t");
    if (content == std::string_view::npos || line[content] == '#') continue;
    const std::size_t tab = line.substr(0, content).find('\t');
    if (tab != std::string_view::npos) {
      return Problem{source.mark(n, tab), "a tab in the indentation: YAML indents with blanks"};
    }
    if (!content_seen && line[0] == '%') {
      return Problem{source.mark(n, 0), "a YAML directive " + std::string(line.substr(0, line.find(' '))) +
                                            ": a policy has none, remove the line"};
    }
    content_seen = true;
  }
  return std::nullopt;
}

std::optional<std::size_t> quoted_length(std::string_view rest) {
  const char quote = rest[0];
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (quote == '"' && rest[i] == '\\') {
      ++i;
    } else if (rest[i] == quote) {
      const bool doubled = quote == '\'' && i + 1 < rest.size() && rest[i + 1] == quote;
      if (!doubled) return i + 1;
      ++i;
    }
  }
  return std::nullopt;
}

std::optional<Problem> find_unclosed(const SourceText& source) {
  struct Open {
    std::size_t line;
    std::size_t at;
    char bracket;
  };
  std::vector<Open> open;
  const auto unclosed = [&](const Open& o) {
    const char closing = o.bracket == '[' ? ']' : '}';
    return Problem{source.mark(o.line, o.at),
                   std::string("this '") + o.bracket + "' is not closed: a '" + closing + "' is missing"};
  };
  for (std::size_t n = 0; n < source.lines(); ++n) {
    const std::string_view line = source.line(n);
    for (std::size_t at = 0; at < line.size(); ++at) {
      const char c = line[at];
      const bool in_flow = !open.empty();
      if (c == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t')) break;
      if ((c == '"' || c == '\'') && starts_token(line, at) && value_may_start(line, at, in_flow)) {
        const auto length = quoted_length(line.substr(at));
        if (!length) return Problem{source.mark(n, at), "this quote is not closed on its line"};
        at += *length - 1;
      } else if ((c == '[' || c == '{') && (in_flow || value_may_start(line, at, false))) {
        open.push_back({n, at, c});
      } else if ((c == ']' || c == '}') && in_flow) {
        if ((c == ']') != (open.back().bracket == '[')) return unclosed(open.back());
        open.pop_back();
      }
    }
  }
  if (!open.empty()) return unclosed(open.back());
  return std::nullopt;
}

}  // namespace epsilog::engine::yaml
