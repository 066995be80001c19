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

/// The forms whose required options are all among `named`: those that a row of a table with these columns
/// may turn out to ask.
[[nodiscard]] std::vector<const Form*> possible_forms(const VerbSpec& verb, const OptionNames& named);

/// Puts one text where the option keeps it, in place of what was there. A flag takes true, false, 1, 0.
/// Throws  UsageError for another text of a flag.
void set_option(Arguments& arguments, const OptionSpec& option, const std::string& text);

}  // namespace epsilog::command
