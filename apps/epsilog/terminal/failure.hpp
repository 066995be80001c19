// What a failure is called outside: exit code, stable code and message.
#pragma once

#include <exception>
#include <string>
#include <vector>

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

}  // namespace epsilog::command
