// What cannot be answered, as RFC 9457 has it: {"type", "title", "status", "detail", "code"} and members of
// ours.
//
// The code says what the caller can do about it, and is the one that the command has for it
// (docs/refusals.md). The detail names datasets, columns and members of the request; never a path, and never
// what a library said.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "json_parts.hpp"
#include "message.hpp"

namespace epsilog::serve {

/// Returns a message that leaves the daemon, as a problem or in its log, with "(a path)" in place of what
/// looks like the path of a file. A path of `known` stays, and so does the name of a file beside it.
[[nodiscard]] std::string without_paths(std::string_view text, const std::vector<std::string>& known = {});
/// The same of their messages.
[[nodiscard]] std::vector<PolicyFault> without_paths(std::vector<PolicyFault> faults);

/// Media type of a problem.
inline constexpr std::string_view kProblem = "application/problem+json";

/// Ends the answering of a request with a problem.
class HttpProblem final : public std::exception {
 public:
  HttpProblem(int status, std::string code, std::string detail);
  [[nodiscard]] const char* what() const noexcept override { return detail_.c_str(); }
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  /// The whole text. what() ends at the first NUL of what it quotes.
  [[nodiscard]] const std::string& detail() const noexcept { return detail_; }
  /// Seconds; 0: none is said.
  [[nodiscard]] int retry_after() const noexcept { return retry_after_; }
  [[nodiscard]] HttpProblem with_retry_after(int seconds) &&;

 private:
  int status_;
  std::string code_;
  std::string detail_;
  int retry_after_ = 0;
};

[[nodiscard]] Response problem(const HttpProblem& refused);
/// The same as an object of an answer that has several.
[[nodiscard]] wire::Json problem_object(const HttpProblem& refused);
/// What an exception of the engine is to somebody who asks over a socket: the texts that say what is wrong
/// with a request stay, all others are ours. `dataset` is what was asked about, "" where nothing was.
[[nodiscard]] Response problem(const std::exception& error, const std::string& dataset);

}  // namespace epsilog::serve
