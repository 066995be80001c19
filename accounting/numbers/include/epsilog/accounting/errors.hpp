// Failures of the world and of the caller. A refusal is not one of them: it is a value
// (epsilog/engine/decision.hpp), because it is expected and recorded.
//
// No message, code or choice of type depends on a true answer (guarantee G7).
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace epsilog {

/// Everything this library throws derives from Error.
class Error : public std::runtime_error {
 public:
  /// Keeps the whole message. what() ends at the first NUL, so each NUL of a text that the message quotes is
  /// written as `\x00`.
  explicit Error(const std::string& message);
  explicit Error(const char* message) : std::runtime_error(message) {}
};

/// An argument is outside its domain or cannot be parsed: the caller must change the call.
class InvalidParameter : public Error {
 public:
  using Error::Error;
};

/// A dataset, column, query or record of that name does not exist.
class NotFound : public Error {
 public:
  using Error::Error;
};

/// The policy does not declare enough to bound the sensitivity of this statistic.
class Underivable : public Error {
 public:
  using Error::Error;
};

/// A data source does not have the declared shape (file, table, header, exact row count).
class SourceError : public Error {
 public:
  using Error::Error;
};

/// One fault of a policy file. Line and column count from 1; a tab is one column.
struct PolicyFault {
  std::string file;
  int line = 1;
  int column = 1;
  std::string message;

  /// "FILE:LINE:COLUMN: message"
  [[nodiscard]] std::string text() const;
};

/// A policy is not acceptable; carries every fault found, in order of appearance.
class PolicyError : public Error {
 public:
  /// Requires  at least one fault.
  explicit PolicyError(std::vector<PolicyFault> faults);
  [[nodiscard]] const std::vector<PolicyFault>& faults() const noexcept { return faults_; }

 private:
  std::vector<PolicyFault> faults_;
};

/// The operating system gave no randomness.
class EntropyUnavailable : public Error {
 public:
  using Error::Error;
};

/// There is no ledger at that path that this user may use so: absent, already there at init, not ours,
/// of another schema, or refused by the system. Nothing happened; trying again does not help.
class LedgerUnusable : public Error {
 public:
  using Error::Error;
};

/// The ledger could not take the transaction now (lock, full disk, no memory). Nothing happened;
/// the same call may succeed later.
class LedgerBusy : public Error {
 public:
  using Error::Error;
};

/// An input or output error left the outcome unknown, or did so earlier: the ledger is poisoned
/// until `epsilog recover`.
class LedgerIo : public Error {
 public:
  using Error::Error;
};

/// The ledger's content contradicts its own invariants.
class LedgerCorrupt : public Error {
 public:
  using Error::Error;
};

namespace accounting {
/// Ends the process with a message. Reached only through EPSILOG_INVARIANT.
[[noreturn]] void fail_invariant(const char* condition, const char* file, int line) noexcept;
}  // namespace accounting

}  // namespace epsilog

/// Our own bug, never the caller's. Always on, and only ever over public state, so that an abort
/// tells nothing about data.
#define EPSILOG_INVARIANT(condition)                   \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::epsilog::accounting::fail_invariant(#condition, __FILE__, __LINE__))
