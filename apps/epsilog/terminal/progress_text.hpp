// How much of some work is done, and about how long the rest takes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace epsilog::command {

/// "verifying 12 %", and from two seconds on, if enough is done to tell by, ", about 34 s left" at the speed
/// so far; in minutes from 90 seconds on, in hours from 90 minutes on.
/// Requires  0 <= fraction <= 1.
[[nodiscard]] std::string progress_text(std::string_view label, double fraction,
                                        std::chrono::milliseconds elapsed);

}  // namespace epsilog::command
