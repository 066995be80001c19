// The daemon from its start to its end.
#pragma once

#include <string>

namespace epsilog::serve {

/// Serves as the configuration file says until SIGTERM or SIGINT; SIGHUP reads the file again.
/// Ensures  exit codes as docs/command.md has them: 0 after an orderly end.
[[nodiscard]] int serve(const std::string& configuration_file);
/// Says what is wrong with the file, and serves nothing.
[[nodiscard]] int check(const std::string& configuration_file);

}  // namespace epsilog::serve
