// A text, otherwise in one place.
#pragma once

#include "support/catch.hpp"

namespace epsilog::test {

/// Its first `from` replaced, which is there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  INFO(from);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace epsilog::test
