// What a failure is called outside: exit code, stable code and message.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/accounting/errors.hpp"
#include "exit_codes.hpp"

namespace epsilog::command {

struct Failure {
  ExitCode exit = ExitCode::internal;
  std::string code;  ///< snake_case, one for each type of exception
  std::string message;
  std::vector<PolicyFault> faults;  ///< of a policy error, else empty
};

[[nodiscard]] Failure describe(const std::exception& error);

/// Says it on standard error and, with --json, as {"error": …} on standard output.
[[nodiscard]] ExitCode report(const Failure& failure, Console& console);

}  // namespace epsilog::command
