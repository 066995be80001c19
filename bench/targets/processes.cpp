#include "processes.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>

extern char** environ;

namespace epsilog::bench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Usage usage_of_program(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const auto begin = std::chrono::steady_clock::now();
  const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot run " + words[0]);
  int status = 0;
  rusage used{};
  if (::wait4(child, &status, 0, &used) != child || status != 0) {
    throw std::runtime_error("a command failed: " + words[0] + " " + words[1]);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return {.seconds = seconds(used.ru_utime) + seconds(used.ru_stime),
          .elapsed = elapsed.count(),
          .mebibytes = static_cast<double>(used.ru_maxrss) / 1024};
}

Usage usage_of(std::vector<std::string> words) {
  words.insert(words.begin(), EPSILOG_COMMAND);
  return usage_of_program(std::move(words));
}

OneCore::OneCore() {
  ::sched_getaffinity(0, sizeof before_, &before_);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

OneCore::~OneCore() {
  ::sched_setaffinity(0, sizeof before_, &before_);
}

ProcessBeside::ProcessBeside(const std::function<void()>& work) : process_(::fork()) {
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ > 0) return;
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "epsilog_ledger_targets: %s\n", error.what());
  }
  ::_exit(1);
}

ProcessBeside::~ProcessBeside() {
  ::kill(process_, SIGTERM);
  static_cast<void>(::waitpid(process_, nullptr, 0));
}

void in_own_process(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    int code = 0;
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "epsilog_ledger_targets: %s\n", error.what());
      code = 1;
    }
    std::fflush(stdout);
    ::_exit(code);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) throw std::runtime_error("a part failed");
}

}  // namespace epsilog::bench
