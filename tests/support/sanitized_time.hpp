// How many times as long as elsewhere a test may take under the sanitizer that it is compiled with.
#pragma once

namespace epsilog::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr int kSanitizedTimes = 20;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kSanitizedTimes = 5;
#else
inline constexpr int kSanitizedTimes = 1;
#endif

}  // namespace epsilog::test
