// Histories and what waits, one decision after the other as they are read: the widths of columns are fixed.
#pragma once

#include <string>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// One line, or two where the style is too narrow for one: then the question stands below.
[[nodiscard]] std::string history_heading(const Style& style);
[[nodiscard]] std::string history_line(const engine::Answer& answer, const Style& style);
[[nodiscard]] std::string relocation_line(const ledger::Relocation& relocation, const Style& style);

/// The same for requests that wait.
[[nodiscard]] std::string pending_heading(const Style& style);
[[nodiscard]] std::string pending_line(const engine::Answer& answer, const Style& style);

}  // namespace epsilog::command
