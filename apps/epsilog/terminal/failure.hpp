// What a failure is called outside: exit code, stable code and message; and what happens when memory runs out.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "exit_codes.hpp"

namespace epsilog::command {

inline constexpr std::string_view kOutOfMemory =
    "out of memory; with the same --key, asking again costs nothing twice";

/// Lack of memory where no exception can tell of it, in GMP and in functions that must not throw, then ends
/// the process with that message and exit code 7, as a signal would: a ledger is safe from that at any
/// instant.
void end_without_memory_where_nothing_else_can() noexcept;

struct Failure {
  ExitCode exit = ExitCode::internal;
  std::string code;  ///< snake_case, one for each type of exception
  std::string message;
  std::vector<PolicyFault> faults;  ///< of a policy error, else empty
};

[[nodiscard]] Failure describe(const std::exception& error);

}  // namespace epsilog::command
