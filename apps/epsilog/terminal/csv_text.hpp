// Lines of CSV, as RFC 4180 quotes them, and texts that no spreadsheet takes for a formula.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epsilog::command {

/// With the line feed at its end. A cell is quoted if a comma, a quote or the end of a line is in it.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

/// Of a text that a spreadsheet may take for a formula, one that it does not: with an apostrophe in front. A
/// text that begins with one gets another, so that taking one away gives every text again.
[[nodiscard]] std::string no_formula(const std::string& text);

/// Whether it is a quantity as --json writes them: a decimal, a fraction or a hexadecimal float, with or
/// without a minus. No spreadsheet computes anything from it.
[[nodiscard]] bool is_quantity(std::string_view text);

}  // namespace epsilog::command
