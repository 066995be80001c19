// --format of the verbs that print rows.
#pragma once

#include "csv_rows.hpp"
#include "verb_spec.hpp"

namespace epsilog::command {

/// The verb with --format: with csv its rows are printed as a table for programs, and what else it has to
/// say is told on standard error, as without.
/// Requires  the verb writes with --json one object at a time. `rows` makes a table for a command line;
///           nothing: the verb writes CSV there itself, and is not asked for JSON.
/// Throws    when run, UsageError for another word than table and csv, and beside --json.
[[nodiscard]] VerbSpec with_rows(VerbSpec verb, std::function<CsvRows(const CommandLine& line)> rows);
/// The same where the table depends on nothing that is typed.
[[nodiscard]] VerbSpec with_rows(VerbSpec verb, CsvRows (*rows)());

/// How many intervals each value of an answer has: one for each --alpha.
[[nodiscard]] CsvRows value_rows_of(const CommandLine& line);

}  // namespace epsilog::command
