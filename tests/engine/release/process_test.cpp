// The release path across processes: overspending, starving and losing answers must be impossible
// however the processes interleave and whenever they die.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "forked_child.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// One acknowledged release, as the child reports it through the pipe.
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

}  // namespace

TEST_CASE("processes: eight times two hundred releases against room for a thousand grant exactly a thousand",
          "[engine][concurrency]") {
  Clinic clinic("epsilon: 1");
  int results[2];
  REQUIRE(pipe(results) == 0);
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    children.push_back(in_child([&] {
      Engine engine = clinic.open();
      int granted = 0;
      for (int i = 0; i < 200; ++i)
        granted += release(engine, supplied("5", "0.001")).recorded.granted ? 1 : 0;
      return write(results[1], &granted, sizeof granted) == static_cast<ssize_t>(sizeof granted) ? 0 : 1;
    }));
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  close(results[1]);
  int total = 0;
  int granted = 0;
  while (read(results[0], &granted, sizeof granted) == static_cast<ssize_t>(sizeof granted)) {
    CHECK(granted > 0);  // nobody starved
    total += granted;
  }
  close(results[0]);
  CHECK(total == 1000);
  CHECK(spent(clinic.open()) == "1");
  const auto report = engine::audit_verify(clinic.ledger());
  CHECK(report.ok);
  CHECK(report.records == 1600);
}

TEST_CASE(
    "processes: kill -9 at two hundred random moments loses no acknowledged answer and charges none twice",
    "[engine][crash]") {
  Clinic clinic("epsilon: 1000");
  std::mt19937 random(20260101);  // decides only when to kill
  std::map<std::string, Acknowledged> acknowledged;
  for (int round = 0; round < 200; ++round) {
    int acknowledgements[2];
    REQUIRE(pipe(acknowledgements) == 0);
    const pid_t child = in_child([&] {
      close(acknowledgements[0]);
      Engine engine = clinic.open();
      for (int i = 0;; ++i) {
        const std::string key = std::to_string(round) + "-" + std::to_string(i);
        acknowledge(acknowledgements[1], key, release(engine, supplied("5", "0.001", key)));
      }
      return 0;
    });
    close(acknowledgements[1]);
    // A random number of answers, then a random moment of the next release; every fourth child dies at
    // any moment from its start on, the opening of the ledger included.
    Acknowledged line{};
    const auto take = [&] {
      if (read(acknowledgements[0], &line, sizeof line) != static_cast<ssize_t>(sizeof line)) return false;
      acknowledged[line.key] = line;
      return true;
    };
    for (unsigned answers = round % 4 == 0 ? 0 : 1 + random() % 4; answers > 0; --answers) REQUIRE(take());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (take()) continue;
    close(acknowledgements[0]);
  }
  Engine engine = clinic.open();
  INFO("acknowledged: " << acknowledged.size());
  REQUIRE(acknowledged.size() >= 150);
  for (const auto& [key, line] : acknowledged) {
    const Answer again = release(engine, supplied("5", "0.001", key));
    CHECK(again.recorded.replayed);
    CHECK(again.recorded.decision_id == line.decision_id);
    CHECK(accounting::text(again.released.values.at(0)) == line.value);
  }
  std::int64_t granted = 0;
  engine.history("", 0, [&granted](const Answer& answer) { granted += answer.recorded.granted ? 1 : 0; });
  CHECK(granted >= static_cast<std::int64_t>(acknowledged.size()));
  CHECK(engine.budget("clinic").at(0).balance.spent ==
        granted * accounting::Epsilon::parse_down("0.001").units());
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}
