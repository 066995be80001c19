// One function for each verb: checks its arguments, does its work, prints, and says how it ended.
#pragma once

#include "arguments.hpp"
#include "console.hpp"
#include "exit_codes.hpp"

namespace epsilog::command {

[[nodiscard]] ExitCode init(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode policy_check(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode policy_show(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode policy_apply(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode policy_diff(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode policy_import(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode policy_draft(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode data_check(const Arguments& arguments, Console& console);

[[nodiscard]] ExitCode plan(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode forecast(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode release(const Arguments& arguments, Console& console);

[[nodiscard]] ExitCode reserve(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode commit(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode cancel(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode token(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode pending(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode approve(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode reject(const Arguments& arguments, Console& console);

[[nodiscard]] ExitCode budget(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode history(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode show(const Arguments& arguments, Console& console);

[[nodiscard]] ExitCode audit_replay(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode audit_verify(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode audit_reaccount(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode recover(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode migrate(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode clock_confirm(const Arguments& arguments, Console& console);
[[nodiscard]] ExitCode relocate(const Arguments& arguments, Console& console);

[[nodiscard]] ExitCode calculate(const Arguments& arguments, Console& console);  ///< every calculator

}  // namespace epsilog::command
