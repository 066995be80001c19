// Random bytes of the operating system.
#pragma once

#include <cstddef>
#include <span>

namespace epsilog::mechanisms {

/// Ensures  every byte is independent and uniform.
/// Throws   EntropyUnavailable; nothing of `bytes` may then be used.
void fill_from_system(std::span<std::byte> bytes);

}  // namespace epsilog::mechanisms
