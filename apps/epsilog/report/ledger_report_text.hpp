// The report for a terminal or a printer of lines, in the order of the page (report_page.hpp).
#pragma once

#include "console.hpp"
#include "report_sheet.hpp"

namespace epsilog::command {

/// Prints part after part, decisions as they are told; keeps to the width of the style, but for tables of
/// texts.
/// Throws  OutputError; what ReportSheet::tell throws.
void print_report(const ReportSheet& sheet, Console& console);

}  // namespace epsilog::command
