// Programs that are run to be measured.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace epsilog::bench {

struct Usage {
  double seconds = 0;  ///< of processors, user and system, those of its own children too
  double elapsed = 0;  ///< seconds of a clock on the wall
  double mebibytes = 0;
};

/// Of a program with these words, the first of them its name; its output is thrown away.
/// Throws  if it does not end with 0.
[[nodiscard]] Usage usage_of_program(std::vector<std::string> words);
/// Of the command with these words.
[[nodiscard]] Usage usage_of(std::vector<std::string> words);

/// This process, and what it starts meanwhile, on one core.
class OneCore final {
 public:
  OneCore();
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;
  ~OneCore();

 private:
  cpu_set_t before_{};
};

/// A server that is there as long as this is: a fork that does the work, which does not return.
/// Requires  no other thread runs.
class ProcessBeside final {
 public:
  explicit ProcessBeside(const std::function<void()>& work);
  ProcessBeside(const ProcessBeside&) = delete;
  ProcessBeside& operator=(const ProcessBeside&) = delete;
  ~ProcessBeside();

 private:
  pid_t process_ = -1;
};

/// Whatever memory it takes is gone after it: the peak of a command counts that of who starts it.
/// Throws  std::runtime_error if it fails, having said why on stderr.
void in_own_process(const std::function<void()>& work);

}  // namespace epsilog::bench
