// The report as JSON (docs/command.md): all but the decisions, which are told as in a history.
#pragma once

#include <optional>
#include <string>

#include "report_sheet.hpp"

namespace epsilog::command {

/// One line. `html`: the file that was written.
[[nodiscard]] std::string ledger_report_json(const ReportSheet& sheet, bool ok,
                                             const std::optional<std::string>& html);

}  // namespace epsilog::command
