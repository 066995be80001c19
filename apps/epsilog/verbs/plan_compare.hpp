// plan --compare: one question under every mechanism that could release it.
#pragma once

#include "ask_arguments.hpp"
#include "console.hpp"
#include "exit_codes.hpp"

namespace epsilog::command {

/// Requires  arguments.compare
/// Throws    UsageError for what does not go with it.
[[nodiscard]] ExitCode plan_compare(const AskArguments& arguments, Console& console);

}  // namespace epsilog::command
