// argv -> CommandLine.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "verb_spec.hpp"

namespace epsilog::command {

/// Text that was asked for instead of work: --help.
struct TextRequest {
  std::string text;
};
struct VersionRequest {};

/// Options may stand before or after the verb, as `--x V` or `--x=V`; an option's value is taken
/// whatever it looks like (`--value -3`, `--value -`); `--` ends the options.
/// Help is `width` columns wide.
/// Ensures  the verb is one of `verbs`, takes all options and words, has those it requires, and no option
/// twice
///          that is not repeatable.
/// Throws   UsageError, with the nearest known word for an unknown one.
[[nodiscard]] std::variant<CommandLine, TextRequest, VersionRequest> parse_command_line(
    const std::vector<VerbSpec>& verbs, const std::vector<std::string>& words, unsigned width);

}  // namespace epsilog::command
