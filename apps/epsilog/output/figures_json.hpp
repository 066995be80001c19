// Figures as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "figures.hpp"

namespace epsilog::command {

/// An indented object.
[[nodiscard]] std::string figures_json(const Figures& figures);
/// One line with `line` in front, for the rows of --batch.
[[nodiscard]] std::string row_json(std::size_t line, const Figures& figures);

}  // namespace epsilog::command
