// The daemon from its start to its end.
#pragma once

#include <string>

namespace epsilog::serve {

/// Serves as the configuration file says until SIGTERM or SIGINT; SIGHUP reads the file again.
/// Ensures  exit codes as docs/command.md has them: 0 after an orderly end.
[[nodiscard]] int serve(const std::string& configuration_file);
/// Says whether serve() would begin to serve now, and changes nothing.
/// Ensures  the exit code that serve() would have, 0 if it would serve; 3 also if no dataset has its source.
[[nodiscard]] int check(const std::string& configuration_file);

}  // namespace epsilog::serve
