// What the fuzz targets share. Each is one function over any bytes, LLVMFuzzerTestOneInput. It calls a parser of the
// program, lets the documented exceptions pass, and throws std::logic_error where a property does not hold. Any other
// exception, and any crash, is a fault of the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace epsilog::fuzz {

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Throws  std::logic_error with the sentence unless it holds.
inline void require(bool holds, const char* sentence) {
  if (!holds) throw std::logic_error(sentence);
}

/// How many inputs a parser took so far. A replay holds each file of a corpus to what its name says.
inline std::size_t accepted_count = 0;

}  // namespace epsilog::fuzz
