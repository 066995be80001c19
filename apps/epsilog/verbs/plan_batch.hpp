// plan --batch: a table of requests, planned in order.
#pragma once

#include "ask_arguments.hpp"
#include "console.hpp"
#include "exit_codes.hpp"

namespace epsilog::command {

/// Prints the rows of the table with what would become of each, then the balances that would remain: as CSV
/// with the balances on standard error, or as JSON Lines with a summary as the last.
///
/// Requires  arguments.batch
/// Throws    UsageError for a table whose columns cannot be requests; what is wrong with a row is said there.
[[nodiscard]] ExitCode plan_batch(const AskArguments& arguments, Console& console);

}  // namespace epsilog::command
