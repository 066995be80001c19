// What a reader says of a text that is not what it should be, and texts with one bit another.
#pragma once

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// "" if nothing was refused.
template <class Exception = Error, class Call>
std::string refused_for(const Call& call) {
  try {
    static_cast<void>(call());
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

/// Calls back with each text that differs from this one in one bit, and says which: BYTE.BIT.
inline void each_flipped(
    const std::string& text,
    const std::function<void(const std::string& flipped, const std::string& which)>& visit) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1U << bit));
      visit(flipped, std::to_string(at) + "." + std::to_string(bit));
    }
  }
}

}  // namespace epsilog::test
