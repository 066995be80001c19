// Policies as files.
#pragma once

#include <string>

namespace epsilog::engine {

/// The bytes of a file, at most one more than a policy may have.
/// Throws  PolicyError: an unreadable file is a fault at 1:1.
[[nodiscard]] std::string policy_text(const std::string& path);

}  // namespace epsilog::engine
