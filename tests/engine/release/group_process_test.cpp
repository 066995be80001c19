// Processes with many threads each, killed at any moment: every key is decided once.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "in_threads.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr int kProcesses = 8;
constexpr int kThreads = 8;

struct Acknowledged {
  char key[32];
  char decision_id[32];
  char value[64];
};

void acknowledge(int pipe, const std::string& key, const Answer& answer) {
  Acknowledged line{};
  key.copy(line.key, sizeof line.key - 1);
  answer.recorded.decision_id.copy(line.decision_id, sizeof line.decision_id - 1);
  accounting::text(answer.released.values.at(0)).copy(line.value, sizeof line.value - 1);
  if (write(pipe, &line, sizeof line) != static_cast<ssize_t>(sizeof line)) _exit(98);
}

/// Eight threads of one process; each key is asked by two of them, and by those of the next process.
[[noreturn]] void ask_until_killed(const Clinic& clinic, int process, int pipe) {
  try {
    Engine engine = clinic.open();
    const std::int64_t begun = engine.budget("clinic").at(0).balance.spent;
    in_threads(kThreads, [&](int thread) {
      for (std::int64_t i = 0;; ++i) {
        const std::string key = std::to_string(process / 2) + "-" + std::to_string(thread / 2) + "-" +
                                std::to_string(begun / 10'000'000'000 + i);
        try {
          acknowledge(pipe, key, release(engine, supplied("5", "0.001", key)));
        } catch (const LedgerBusy&) {
        }
      }
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  _exit(97);
}

void kill_processes(int kills) {
  Clinic clinic("epsilon: 1000000");
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  std::vector<pid_t> children;
  const auto start = [&](int process) {
    const pid_t child = fork();
    if (child == 0) {
      close(pipes[0]);
      ask_until_killed(clinic, process, pipes[1]);
    }
    return child;
  };
  for (int process = 0; process < kProcesses; ++process) children.push_back(start(process));
  std::map<std::string, Acknowledged> acknowledged;
  std::size_t lines = 0;
  bool differ = false;
  // All that is there. No thread reads it: a child of a process with threads may start none under
  // ThreadSanitizer.
  REQUIRE(fcntl(pipes[0], F_SETFL, O_NONBLOCK) == 0);
  const auto read_acknowledged = [&] {
    Acknowledged line{};
    while (read(pipes[0], &line, sizeof line) == static_cast<ssize_t>(sizeof line)) {
      ++lines;
      const auto [before, fresh] = acknowledged.emplace(line.key, line);
      const bool same = std::string(before->second.decision_id) == line.decision_id &&
                        std::string(before->second.value) == line.value;
      if (!same) differ = true;
    }
  };
  std::mt19937 random(20261122);  // decides only whom to kill, and when
  for (int round = 0; round < kills; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    pid_t& child = children[random() % children.size()];
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    child = start(static_cast<int>(&child - children.data()));
    read_acknowledged();
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  close(pipes[1]);
  read_acknowledged();
  close(pipes[0]);
  CHECK_FALSE(differ);
  INFO("acknowledged " << lines << " times, keys: " << acknowledged.size());
  CHECK(acknowledged.size() >= static_cast<std::size_t>(kills));
  CHECK(lines > acknowledged.size());

  Engine engine = clinic.open();
  std::map<std::string, int> decided;
  std::int64_t granted = 0;
  std::map<std::string, std::string> values;
  engine.history("", 0, [&](const Answer& answer) {
    CHECK(answer.recorded.durable.value());
    ++decided[answer.asked.key];
    ++granted;
    values[answer.asked.key] = accounting::text(answer.released.values.at(0));
  });
  for (const auto& [key, times] : decided) CHECK(times == 1);
  for (const auto& [key, line] : acknowledged) CHECK(values[key] == line.value);
  CHECK(engine.budget("clinic").at(0).balance.spent ==
        granted * accounting::Epsilon::parse_down("0.001").units());
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

}  // namespace

TEST_CASE("processes: eight of eight threads killed a hundred times decide every key once",
          "[engine][groups][crash]") {
  kill_processes(100);
}

TEST_CASE("processes: eight of eight threads killed a thousand times decide every key once",
          "[.long][engine][groups][crash]") {
  kill_processes(1'000);
}

TEST_CASE("groups: whoever reads before COMMIT returned is told no member's value",
          "[engine][groups][crash]") {
  // Killed right before COMMIT, and at each moment after: what is told by then says that it is not durable.
  for (int microseconds = 0; microseconds < 3'000; microseconds += 100) {
    Clinic clinic("epsilon: 1000");
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
      engine::EngineOptions options;
      options.before_commit = [&] { (void)!write(ready[1], "c", 1); };
      Engine engine = Engine::open(clinic.ledger(), options);
      in_threads(4, [&](int i) {
        for (int n = 0;; ++n)
          (void)release(engine, supplied("5", "0.01", std::to_string(i) + "." + std::to_string(n)));
      });
    }
    close(ready[1]);
    char byte = 0;
    for (int commits = 0; commits < 3; ++commits) REQUIRE(read(ready[0], &byte, 1) == 1);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    engine::EngineOptions at_once;
    at_once.wait_ms = 0;
    std::map<std::string, std::vector<accounting::Rational>> told;
    {
      // The turn, so that nobody can make durable what is not.
      const int held = open((clinic.ledger() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
      REQUIRE(flock(held, LOCK_EX) == 0);
      Engine reader = Engine::open(clinic.ledger(), at_once);
      reader.history("", 0, [&](const Answer& answer) {
        const bool durable = answer.recorded.durable.value();
        CHECK(durable != answer.released.values.empty());
        if (durable) told[answer.asked.key] = answer.released.values;
      });
      close(held);
    }
    Engine engine = clinic.open();
    for (const auto& [key, values] : told) {
      CAPTURE(microseconds, key);
      const Answer again = release(engine, supplied("5", "0.01", key));
      CHECK(again.recorded.replayed);
      CHECK(again.released.values == values);
    }
    CHECK(engine::audit_verify(clinic.ledger()).ok);
  }
}
