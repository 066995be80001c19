// Catch2 v2 (Debian 12) and v3 (Debian 13) under one name, and those headers of the standard library that
// most tests use.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace epsilog::test {

/// That a text has this part; Catch2 v2 and v3 call it differently.
inline auto says(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

/// Holds that a text has these parts.
inline void check_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) CHECK_THAT(text, says(part));
}

/// Returns the message of the error of this kind that a call throws, "" where it throws nothing.
template <class Kind, class Call>
std::string message_thrown(Call call) {
  try {
    static_cast<void>(call());
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

}  // namespace epsilog::test
