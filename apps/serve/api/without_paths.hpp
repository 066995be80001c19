// A message for the log of a daemon, which whoever operates it reads.
#pragma once

#include <string>
#include <string_view>

namespace epsilog::serve {

/// The same with "(a path)" in place of what looks like the path of a file.
[[nodiscard]] std::string without_paths(std::string_view text);

}  // namespace epsilog::serve
