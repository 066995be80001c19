// Texts of other encodings as UTF-8. Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/engine/source_dialect.hpp"

namespace epsilog::engine {

/// Appends what the bytes say to `utf8`; false as soon as one is none of the encoding. Different bytes give
/// different texts.
[[nodiscard]] bool append_utf8(std::string_view bytes, Encoding encoding, std::string& utf8);

}  // namespace epsilog::engine
