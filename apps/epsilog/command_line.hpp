// argv -> Arguments. The only place that knows CLI11.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "arguments.hpp"

namespace epsilog::command {

/// Text that was asked for instead of work: --help, --version.
struct TextRequest {
  std::string text;
};

/// Options may stand before or after the verb, as `--x V` or `--x=V`; an option's value is taken
/// whatever it looks like (`--value -3`, `--value -`); `--` ends the options.
/// Help is `width` columns wide.
/// Throws  UsageError, with the nearest known word for an unknown one.
[[nodiscard]] std::variant<Arguments, TextRequest> parse_command_line(const std::vector<std::string>& words,
                                                                      unsigned width);

}  // namespace epsilog::command
