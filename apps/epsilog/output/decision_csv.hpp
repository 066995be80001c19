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

}  // namespace epsilog::command
