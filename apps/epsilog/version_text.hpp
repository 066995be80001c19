// What --version says.
#pragma once

#include <string>

namespace epsilog::command {

/// "epsilog 0.1.0" on a line of its own, then the commit, how it was built and the libraries as they are
/// loaded.
[[nodiscard]] std::string version_text();

}  // namespace epsilog::command
