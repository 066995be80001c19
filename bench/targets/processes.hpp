// Programs that are run to be measured.
#pragma once

#include <sched.h>

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

/// Whatever memory it takes is gone after it: the peak of a command counts that of who starts it.
/// Throws  std::runtime_error if it fails, having said why on stderr.
void in_own_process(const std::function<void()>& work);

}  // namespace epsilog::bench
