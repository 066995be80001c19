// Text from elsewhere (file names, cells, keys), made safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace epsilog::command {

/// Well-formed UTF-8 without control characters (C0, DEL, C1).
[[nodiscard]] bool is_printable(std::string_view text);

/// The same text with control characters and bytes that are not UTF-8 written as \xNN, so that a
/// name cannot steer the terminal or forge a second line.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns the text takes on a terminal, one for each code point.
[[nodiscard]] std::size_t display_width(std::string_view printable_text);

}  // namespace epsilog::command
