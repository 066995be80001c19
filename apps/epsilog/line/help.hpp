// Help texts: examples first, because they are what most readers came for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verb_spec.hpp"

namespace epsilog::command {

/// No line is wider than `width` columns, unless a single word or an example is.
[[nodiscard]] std::string root_help(const std::vector<VerbSpec>& verbs, unsigned width);
/// `group` is the first word of verbs of two words, "policy".
[[nodiscard]] std::string group_help(const std::vector<VerbSpec>& verbs, std::string_view group,
                                     unsigned width);
[[nodiscard]] std::string verb_help(const VerbSpec& verb, unsigned width);

}  // namespace epsilog::command
