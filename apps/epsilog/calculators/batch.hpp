// --batch: one calculation for each row of a CSV table, in one process and in bounded memory.
#pragma once

#include "calculator_form.hpp"
#include "console.hpp"
#include "exit_codes.hpp"

namespace epsilog::command {

/// Reads the table that --batch names ("-" is standard input) and writes, row by row, its columns,
/// the results and `error` as CSV, or with --json one object a line.
///
/// A table is one record a line (RFC 4180 quoting, LF or CRLF, byte order mark allowed), so that a bad
/// quote spoils its own line only. Its first line names options without their dashes. An empty cell is an
/// option not given: then what the command line says of it holds. Lines without anything are left out. What
/// is wrong in a row is said in its `error`; the others are not concerned. A result of the same name
/// as a column of the input is written there: that cell was empty.
///
/// Output is handed on before each wait for input, so that the command can serve at the other end of a pipe.
/// Ensures   done, or invalid when any row was bad.
/// Throws    UsageError for the header, before anything is written; SourceError when the file cannot be
///           read; OutputError.
/// Requires  --batch.
[[nodiscard]] ExitCode calculate_batch(const std::vector<CalculatorForm>& forms, const CommandLine& line,
                                       Console& console);

}  // namespace epsilog::command
