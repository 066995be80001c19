// Which form of a calculator's verb was asked, from the options that were given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verbs.hpp"

namespace epsilog::command {

using OptionNames = std::vector<std::string_view>;

/// The options of the verb that `arguments` holds, in the order of its table; --batch left out.
[[nodiscard]] OptionNames given_options(const VerbSpec& verb, const Arguments& arguments);

/// The only form that needs no other option than these and takes them all.
/// Throws  UsageError naming what is missing, else what is superfluous.
[[nodiscard]] const Form& chosen_form(const VerbSpec& verb, const OptionNames& given);

/// The forms that a row of a table may turn out to ask: they take every option of the command line, and need
/// none that is neither there nor a column.
/// Throws  as chosen_form when there is none.
[[nodiscard]] std::vector<const Form*> possible_forms(const VerbSpec& verb, const OptionNames& command_line,
                                                      const OptionNames& columns);

/// Puts one text where the option keeps it, in place of what was there. A flag takes true, false, 1, 0.
/// Throws  UsageError for another text of a flag.
void set_option(Arguments& arguments, const OptionSpec& option, const std::string& text);

}  // namespace epsilog::command
