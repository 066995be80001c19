// The cells of a released answer, for a terminal.
#pragma once

#include <string>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// Whether cells_text() is a table with a row for each value of the first of two columns and a column for
/// each of the second: of what is drawn once, where it fits and the style is not verbose. It has no
/// intervals.
[[nodiscard]] bool is_two_way(const engine::Answer& answer, const Style& style);

/// A line for each cell with its intervals and a bar, or a two-way table.
/// Requires  values of several cells.
[[nodiscard]] std::string cells_text(const engine::Answer& answer, const std::string& heading,
                                     const Style& style);

}  // namespace epsilog::command
