// Decisions as rows of a table for programs and spreadsheets: what `history --json` says of each, without
// what takes more than a cell.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// The columns, in an order that stays; new ones come behind.
[[nodiscard]] std::vector<std::string> decision_columns();

/// A cell for each column, "" where it does not apply. Texts from elsewhere are made inert: printable, and
/// not to be taken for a formula.
[[nodiscard]] std::vector<std::string> decision_cells(const engine::Answer& answer);

/// Of a text that a spreadsheet may take for a formula, one that it does not: with an apostrophe in front. A
/// text that begins with one gets another, so that taking one away gives every text again.
[[nodiscard]] std::string no_formula(const std::string& text);

}  // namespace epsilog::command
