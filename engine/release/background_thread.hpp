// A thread that goes on beside the calls of an engine.
#pragma once

#include <functional>
#include <thread>

namespace epsilog::engine {

/// It takes no signal meant for the program.
/// Requires  `work` does not throw.
/// Throws    std::system_error if there can be no thread; nothing was done then.
[[nodiscard]] std::thread start_background_thread(std::function<void()> work);

}  // namespace epsilog::engine
