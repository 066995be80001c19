// Histories and what waits, one decision after the other as they are read: the widths of columns are fixed.
#pragma once

#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/ledger_events.hpp"

namespace epsilog::command {

/// One line, or two where the style is too narrow for one: then the question stands below.
[[nodiscard]] std::string history_heading(const Style& style);
[[nodiscard]] std::string history_line(const engine::Answer& answer, const Style& style);
/// What happened besides decisions, in the same columns, and below it one line a detail.
[[nodiscard]] std::string event_lines(const engine::LedgerEvent& event, const Style& style);
/// "policy version 2, by cleo: the board agreed": what happened, by whom and why.
[[nodiscard]] std::string event_text(const engine::LedgerEvent& event);
/// What a policy version loosened, and what became of limits: one sentence each.
[[nodiscard]] std::vector<std::string> event_details(const engine::LedgerEvent& event);

/// The same for requests that wait.
[[nodiscard]] std::string pending_heading(const Style& style);
[[nodiscard]] std::string pending_line(const engine::Answer& answer, const Style& style);

}  // namespace epsilog::command
