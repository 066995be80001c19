// A broken invariant, in a process of its own: who is told of it, and that the process ends.
#include "epsilog/accounting/errors.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "support/catch.hpp"

using namespace epsilog;

namespace {

/// What a child process wrote to standard error, and the signal that ended it; 0 where it ended by itself.
struct Ended {
  std::string said;
  int signal = 0;
};

template <class Work>
Ended in_child(const Work& work) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);  // not that of the test's framework, which would tell of a failed test
    ::dup2(ends[1], STDERR_FILENO);
    work();
    ::_exit(0);
  }
  ::close(ends[1]);
  Ended ended;
  std::array<char, 512> bytes{};
  for (ssize_t got = 0; (got = ::read(ends[0], bytes.data(), bytes.size())) > 0;)
    ended.said.append(bytes.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return ended;
}

void say(const char* text) noexcept {
  static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
}

void reports(const BrokenInvariant& broken) noexcept {
  say("hook: ");
  say(broken.condition);
  say(std::strstr(broken.file, "errors_test.cpp") != nullptr && broken.line > 0 ? " here\n" : " elsewhere\n");
}

void breaks_another(const BrokenInvariant& broken) noexcept {
  say("hook\n");
  EPSILOG_INVARIANT(broken.line == 0);
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void break_one() {
  const int two = 2;
  EPSILOG_INVARIANT(two == 3);
}

}  // namespace

TEST_CASE("invariant: one that breaks is reported to the hook, and ends the process",
          "[accounting][errors]") {
  const std::string message = "epsilog: internal error: invariant does not hold: two == 3 (";
  const Ended without = in_child(break_one);
  CHECK(without.signal == SIGABRT);
  CHECK(without.said.starts_with(message));
  const Ended with = in_child([] {
    if (set_invariant_hook(reports) == nullptr) break_one();
  });
  CHECK(with.signal == SIGABRT);
  CHECK(with.said.starts_with(message));
  CHECK(with.said.ends_with("hook: two == 3 here\n"));
  const Ended taken_away = in_child([] {
    static_cast<void>(set_invariant_hook(reports));
    if (set_invariant_hook(nullptr) == reports) break_one();
  });
  CHECK(taken_away.signal == SIGABRT);
  CHECK(times(taken_away.said, "hook") == 0);
}

TEST_CASE("invariant: one that breaks in the hook ends the process, and the hook is not called again",
          "[accounting][errors]") {
  const Ended ended = in_child([] {
    static_cast<void>(set_invariant_hook(breaks_another));
    break_one();
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(times(ended.said, "hook") == 1);
  CHECK(times(ended.said, "internal error") == 2);
}

TEST_CASE("invariant: the hook is called on the thread that broke it", "[accounting][errors]") {
  static std::atomic<std::thread::id> breaker;
  const Ended ended = in_child([] {
    static_cast<void>(set_invariant_hook([](const BrokenInvariant&) noexcept {
      say(breaker.load() == std::this_thread::get_id() ? "own thread" : "another thread");
    }));
    std::thread([] {
      breaker = std::this_thread::get_id();
      break_one();
    }).join();
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.said.ends_with("own thread"));
}
