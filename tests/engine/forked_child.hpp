// Work in a process of its own, which can be killed.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <type_traits>

namespace epsilog::test {

/// Runs `work` in a child process. Its exit status is what that returns, 0 if nothing, 99 of an exception.
template <class Work>
pid_t in_child(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 99;
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      status = 0;
    } else {
      status = work();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(status);
}

}  // namespace epsilog::test
