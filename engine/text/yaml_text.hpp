// The characters of a YAML text, before it is parsed: encoding, places, and where a syntax error
// has its cause.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/mark.hpp"

namespace epsilog::engine::yaml {

/// A problem and its place in the text.
struct Problem {
  Mark mark;
  std::string message;
};

/// Lines of a text, and places in it. Keeps a view: the text must outlive it.
class SourceText final {
 public:
  explicit SourceText(std::string_view text);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] std::size_t lines() const noexcept { return starts_.size(); }
  /// Without its line break.
  /// Requires  line < lines().
  [[nodiscard]] std::string_view line(std::size_t line) const;
  /// Counts from 1, in code points, of a place given from 0, in bytes (as yaml-cpp's marks are).
  [[nodiscard]] Mark mark(std::size_t line, std::size_t byte) const;
  /// The rest of the line from that place on; "" beyond the end.
  [[nodiscard]] std::string_view rest(std::size_t line, std::size_t byte) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> points_before_;  ///< code points that begin before each byte
};

/// Controls and separators that editors show as nothing, and the bidirectional controls that make a
/// line read differently from what it says (CVE-2021-42574).
[[nodiscard]] bool is_hidden(char32_t point);

/// The first character that may not occur: not UTF-8, a control or an invisible formatting
/// character, a carriage return alone, a tab in the indentation, a directive.
[[nodiscard]] std::optional<Problem> find_bad_character(const SourceText& source);

/// The length of the quoted scalar at the start of `rest`, both quotes included; nothing if it does not end
/// there.
/// Requires  rest starts with a quote.
[[nodiscard]] std::optional<std::size_t> quoted_length(std::string_view rest);

/// The first quote or bracket that is left open. Only asked after the parser gave up: it takes the
/// text for a policy without scalars over several lines.
[[nodiscard]] std::optional<Problem> find_unclosed(const SourceText& source);

}  // namespace epsilog::engine::yaml
