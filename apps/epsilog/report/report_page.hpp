// The report as one file of HTML that is XML as well: no script, nothing from elsewhere, pictures inline; for
// screens in light and dark, and for paper.
#pragma once

#include "html_text.hpp"
#include "report_sheet.hpp"

namespace epsilog::command {

/// Writes the page row by row. The same ledger gives the same bytes.
/// Throws  what the sink and ReportSheet::tell throw.
void write_report_page(const ReportSheet& sheet, const PageSink& sink);

}  // namespace epsilog::command
