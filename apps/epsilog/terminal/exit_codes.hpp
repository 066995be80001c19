// Exit codes of the command. They are a contract with scripts: docs/command.md lists them.
#pragma once

namespace epsilog::command {

enum class ExitCode : int {
  done = 0,
  internal = 1,      ///< our own fault, or the answer could not be written to standard output
  usage = 2,         ///< flags, missing or unparsable arguments
  invalid = 3,       ///< unknown name or id, incomplete or invalid policy, invalid source or ledger
  refused = 4,       ///< the decision is a refusal, or what was asked ended without an answer
  pending = 5,       ///< the request waits for approvals, or approved for its commit
  not_verified = 6,  ///< the ledger failed verification, is truncated or corrupt
  try_again = 7,     ///< lock, full disk, read-only, poisoned, source or input unreadable
};

}  // namespace epsilog::command
