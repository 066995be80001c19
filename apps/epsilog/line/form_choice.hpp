// Which form of a calculator's verb was asked, from the options that were given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verb_spec.hpp"

namespace epsilog::command {

using OptionNames = std::vector<std::string_view>;

/// The options that were given, in the order in which the verb has them; --batch left out.
[[nodiscard]] OptionNames given_options(const CommandLine& line);

/// Which of the verb's forms is the only one that needs no other option than these and takes them all.
/// Throws  UsageError naming what is missing, else what is superfluous.
[[nodiscard]] std::size_t chosen_form(const VerbSpec& verb, const OptionNames& given);

/// The forms that a row of a table may turn out to ask: they take every option of the command line, and need
/// none that is neither there nor a column.
/// Throws  as chosen_form when there is none.
[[nodiscard]] std::vector<std::size_t> possible_forms(const VerbSpec& verb, const OptionNames& command_line,
                                                      const OptionNames& columns);

/// Gives the option, in place of what was there. A flag takes true, false, 1, 0.
/// Throws  UsageError for another text of a flag.
void set_option(CommandLine& line, const OptionSpec& option, const std::string& text);

}  // namespace epsilog::command
