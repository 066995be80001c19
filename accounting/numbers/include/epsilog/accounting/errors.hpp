// Failures of the world and of the caller. A refusal is not one of them: it is a value
// (epsilog/engine/decision.hpp), because it is expected and recorded.
//
// No message, code or choice of type depends on a true answer (guarantee G7).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog {

/// Everything this library throws derives from Error.
class Error : public std::runtime_error {
 public:
  /// Keeps the whole message. what() ends at the first NUL, so each NUL of a text that the message quotes is
  /// written as `\x00`.
  explicit Error(const std::string& message);
  explicit Error(const char* message) : std::runtime_error(message) {}
  /// Returns the word for this kind of error, which does not change when its message does: "ledger_busy",
  /// "not_found", … docs/library.md lists them. A program decides by it, and shows what() to a person.
  [[nodiscard]] virtual std::string_view code() const noexcept { return "error"; }
};

/// An argument is outside its domain or cannot be parsed: the caller must change the call.
class InvalidParameter : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "invalid_parameter"; }
};

/// A dataset, column, query or record of that name does not exist.
class NotFound : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "not_found"; }
};

/// The policy does not declare enough to bound the sensitivity of this statistic.
class Underivable : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "policy_incomplete"; }
};

/// A data source does not have the declared shape (file, table, header, exact row count).
class SourceError : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "source_error"; }
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
  [[nodiscard]] std::string_view code() const noexcept override { return "policy_error"; }

 private:
  std::vector<PolicyFault> faults_;
};

/// The operating system gave no randomness.
class EntropyUnavailable : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "entropy_unavailable"; }
};

/// There is no ledger at that path that this user may use so: absent, already there at init, not ours,
/// of another schema, or refused by the system. Nothing happened; trying again does not help.
class LedgerUnusable : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "ledger_unusable"; }
};

/// The ledger could not take the transaction now (lock, full disk, no memory). Nothing happened;
/// the same call may succeed later.
class LedgerBusy : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "ledger_busy"; }
};

/// An input or output error left the outcome unknown, or did so earlier: the ledger is poisoned
/// until `epsilog recover`.
class LedgerIo : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "ledger_io"; }
};

/// The ledger's content contradicts its own invariants.
class LedgerCorrupt : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "ledger_corrupt"; }
};

/// What did not hold, and where: texts that live as long as the process.
struct BrokenInvariant {
  const char* condition;
  const char* file;
  int line;
};
/// Reports a broken invariant to the program's own log or crash reporter. The message stands on standard error
/// already, and the process ends with abort() as soon as the hook returns. The hook may be called on any thread,
/// under any lock of the library, and on several threads at once; it must not throw and must not use the library.
/// An invariant that breaks inside a hook ends the process without calling it again.
using InvariantHook = void (*)(const BrokenInvariant&) noexcept;
/// Sets the hook of this process and returns the one before; null: none. Thread-safe.
InvariantHook set_invariant_hook(InvariantHook hook) noexcept;

namespace accounting {
/// Reports a broken invariant and ends the process. Reached only through EPSILOG_INVARIANT.
[[noreturn]] void fail_invariant(const char* condition, const char* file, int line) noexcept;
}  // namespace accounting

}  // namespace epsilog

/// Our own bug, never the caller's. Always on, and only ever over public state, so that an abort
/// tells nothing about data.
#define EPSILOG_INVARIANT(condition)                   \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::epsilog::accounting::fail_invariant(#condition, __FILE__, __LINE__))
