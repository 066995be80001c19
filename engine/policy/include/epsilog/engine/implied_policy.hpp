// What a policy file implies, as ledgers record it: docs/record_format.md, "The object a policy implies".
//
// Thread-safety: reads a file.
#pragma once

#include <string>

namespace epsilog::engine {

/// What the line of a policy version says of its text.
struct ImpliedPolicy {
  std::string object;  ///< canonical JSON: the member `implies`
  std::string sha256;  ///< of the bytes of the file, 64 lower-case hexadecimal digits
};

/// Reads a policy file, at most 256 KiB, and derives the object that it implies.
///
/// Throws  PolicyError with every fault found; an unreadable file is a fault at 1:1.
[[nodiscard]] ImpliedPolicy implied_policy_file(const std::string& path);

}  // namespace epsilog::engine
