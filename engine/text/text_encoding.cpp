#include "text_encoding.hpp"

#include <array>

#include "epsilog/engine/utf8.hpp"

namespace epsilog::engine {
namespace {

/// The characters of windows-1252 from 0x80 to 0x9F; 0: there is none.
/// Source  https://encoding.spec.whatwg.org/index-windows-1252.txt, without its five stand-ins for nothing.
constexpr std::array<char16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

void append_point(char16_t point, std::string& utf8) {
  const auto append = [&utf8](unsigned byte) { utf8 += static_cast<char>(byte); };
  if (point < 0x80) {
    append(point);
  } else if (point < 0x800) {
    append(0xC0U | point >> 6U);
    append(0x80U | (point & 0x3FU));
  } else {
    append(0xE0U | point >> 12U);
    append(0x80U | (point >> 6U & 0x3FU));
    append(0x80U | (point & 0x3FU));
  }
}

}  // namespace

bool append_utf8(std::string_view bytes, Encoding encoding, std::string& utf8) {
  if (encoding == Encoding::utf_8) {
    utf8 += bytes;
    return is_utf8(bytes);
  }
  for (const char c : bytes) {
    char16_t point = static_cast<unsigned char>(c);
    if (encoding == Encoding::windows_1252 && point >= 0x80 && point < 0xA0) {
      point = kWindows1252[point - 0x80U];
      if (point == 0) return false;
    }
    append_point(point, utf8);
  }
  return true;
}

}  // namespace epsilog::engine
