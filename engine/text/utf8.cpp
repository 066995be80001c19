#include "epsilog/engine/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace epsilog::engine {
namespace {

/// Whether the next eight bytes are there, and ASCII.
bool eight_ascii(std::string_view text, std::size_t at) {
  std::uint64_t eight = 0;
  if (text.size() - at < sizeof eight) return false;
  std::memcpy(&eight, text.data() + at, sizeof eight);
  return (eight & 0x8080'8080'8080'8080U) == 0;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xC2 || lead > 0xF4) return {};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

bool is_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (eight_ascii(text, at)) {
      at += sizeof(std::uint64_t);
      continue;
    }
    const std::size_t bytes = code_point_at(text, at).bytes;
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

bool is_ascii(std::string_view text) {
  std::size_t at = 0;
  while (eight_ascii(text, at)) at += sizeof(std::uint64_t);
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace epsilog::engine
