// Whether a file is lines of text, or of another kind under the name of a CSV file.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epsilog::engine {

/// Says what a file is that is not lines of text, and what to do: "is UTF-16: convert it first, …"; nothing
/// where it may be text. `beginning`: its first bytes, as many as are at hand.
/// Ensures  nothing of the file is quoted.
[[nodiscard]] std::optional<std::string> why_not_text(std::string_view beginning);

/// Says that lines end in carriage returns where they have to end in line feeds, and what to do; nothing
/// where they end right. Carriage returns in quotes belong to a cell.
[[nodiscard]] std::optional<std::string> why_not_lines(std::string_view bytes);

}  // namespace epsilog::engine
