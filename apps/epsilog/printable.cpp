#include "printable.hpp"

#include <cstdint>

namespace epsilog::command {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Bytes of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7); 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF     ? 2
                             : (lead >= 0xE0 && lead <= 0xEF) ? 3
                             : lead >= 0xF0 && lead <= 0xF4   ? 4
                                                              : 0;
  if (length == 0 || at + length > text.size()) return 0;
  const unsigned second = byte_at(text, at + 1);
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < lowest || second > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

bool is_control(std::string_view text, std::size_t at, std::size_t length) {
  const unsigned lead = byte_at(text, at);
  if (length == 1) return lead < 0x20 || lead == 0x7F;
  return length == 2 && lead == 0xC2 && byte_at(text, at + 1) < 0xA0;
}

std::string hex_byte(unsigned byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return std::string("\\x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
}

}  // namespace

bool is_printable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0 || is_control(text, at, length)) return false;
    at += length;
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length != 0 && !is_control(text, at, length)) {
      result += text.substr(at, length);
      at += length;
    } else {
      result += hex_byte(byte_at(text, at));
      ++at;
    }
  }
  return result;
}

std::size_t display_width(std::string_view printable_text) {
  std::size_t width = 0;
  for (const char c : printable_text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
  }
  return width;
}

}  // namespace epsilog::command
