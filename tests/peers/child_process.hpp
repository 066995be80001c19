// Work done in a process of its own, which may be killed in the middle of it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::test {

/// Runs `work` in a child; what it returns is the exit status, 255 after an exception.
template <class Work>
pid_t start_child(Work work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 255;
  try {
    status = work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  _exit(status);
}

/// Waits; the exit status, or 128 + N when signal N ended it.
inline int status_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Ends this process at once, as a power switch would: nothing is flushed, nothing destroyed.
[[noreturn]] inline void die() {
  kill(getpid(), SIGKILL);
  _exit(97);  // not reached
}
inline constexpr int kKilled = 128 + SIGKILL;

/// Random bits that end the process when they are asked for the n-th time, counted from 0.
class DeadlyBits final : public mechanisms::BitSource {
 public:
  explicit DeadlyBits(int fills) : left_(fills) {}
  void fill(std::span<std::byte> bytes) override {
    if (left_-- == 0) die();
    system_.fill(bytes);
  }

 private:
  mechanisms::SystemBits system_;
  int left_;
};

}  // namespace epsilog::test
