// Text from elsewhere (file names, cells, keys), made safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace epsilog::command {

/// Well-formed UTF-8 without control characters (C0, DEL, C1).
[[nodiscard]] bool is_printable(std::string_view text);

/// The same text with control characters and bytes that are not UTF-8 written as \xNN, and C1 controls, ends
/// of lines and what reverses the direction of writing (U+061C, U+200E, U+202E, ...) as \uNNNN, so that a
/// name cannot steer the terminal, forge a second line or be read as another.
[[nodiscard]] std::string printable(std::string_view text);
/// The same for a text of several lines: line ends and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// Columns the text takes on a terminal: none for a combining mark, two for a wide character.
[[nodiscard]] std::size_t display_width(std::string_view printable_text);

/// The text, of one line, with line ends put between words so that none goes beyond `width` columns, a longer
/// word excepted. `first` columns are taken before it; the lines after the first are indented by `margin`.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t first,
                                  std::size_t margin);

}  // namespace epsilog::command
