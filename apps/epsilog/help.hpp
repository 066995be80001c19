// Help texts: examples first, because they are what most readers came for.
#pragma once

#include <string>

#include "verbs.hpp"

namespace epsilog::command {

[[nodiscard]] std::string root_help();
/// `group` is the first word of verbs of two words, "policy".
[[nodiscard]] std::string group_help(std::string_view group);
[[nodiscard]] std::string verb_help(const VerbSpec& verb);

}  // namespace epsilog::command
