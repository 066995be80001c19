// release --dummy: an answer from invented rows, for which neither source nor ledger is opened.
#pragma once

#include "ask_arguments.hpp"
#include "console.hpp"
#include "verb_spec.hpp"

namespace epsilog::command {

/// Requires  arguments.dummy.
/// Throws    UsageError without --policy, PolicyError, and what dummy_release() does.
[[nodiscard]] ExitCode dummy_run(const AskArguments& arguments, Console& console);

/// The verb, which with --dummy refuses what only a ledger or true data could be meant by, before it looks at
/// any of it; and --policy without --dummy.
[[nodiscard]] VerbSpec with_dummy_runs(VerbSpec verb);

}  // namespace epsilog::command
