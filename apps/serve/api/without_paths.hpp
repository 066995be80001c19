// A message that leaves a daemon: in its log, which whoever operates it reads, or as a problem.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {

/// The same with "(a path)" in place of what looks like the path of a file. A path of `known` stays, and so
/// does the name of a file beside it.
[[nodiscard]] std::string without_paths(std::string_view text, const std::vector<std::string>& known = {});
/// The same of their messages.
[[nodiscard]] std::vector<PolicyFault> without_paths(std::vector<PolicyFault> faults);

}  // namespace epsilog::serve
