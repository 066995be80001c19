#pragma once

namespace epsilog::command {

/// The whole command: parses, runs the verb, reports failures, returns the exit code.
/// Throws  nothing.
[[nodiscard]] int run(int argc, char** argv) noexcept;

}  // namespace epsilog::command
