// The options of the command: one meaning for each, whichever verb takes it.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace epsilog::command {

struct OptionSpec {
  std::string_view name;     ///< "--epsilon"
  std::string_view metavar;  ///< "E"; "" for a flag
  std::string_view help;
  bool repeatable = false;

  [[nodiscard]] bool takes_value() const { return !metavar.empty(); }
};

[[nodiscard]] std::span<const OptionSpec> all_options();
/// nullptr when there is none of that name.
[[nodiscard]] const OptionSpec* find_option(std::string_view name);
/// Returns the option, without dashes, that other tools call by that word; "" where there is none. In the
/// word a dash may be an underscore, as in the header of a table.
[[nodiscard]] std::string_view usual_name(std::string_view word);
/// Those that every verb takes: how it prints.
[[nodiscard]] std::array<std::string_view, 3> options_of_every_verb();

}  // namespace epsilog::command
