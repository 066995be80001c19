// What the command does when memory runs out: one fixed message and the exit code of what may succeed later.
#pragma once

#include <string_view>

namespace epsilog::command {

inline constexpr std::string_view kOutOfMemory =
    "out of memory; with the same --key, asking again costs nothing twice";

/// Lack of memory where no exception can tell of it, in GMP and in functions that must not throw, then ends
/// the process with that message and exit code 7, as a signal would: a ledger is safe from that at any
/// instant.
void end_without_memory_where_nothing_else_can() noexcept;

}  // namespace epsilog::command
