// Reservations across processes that die. Random sequences of every verb: random_walk_test.cpp.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "epsilog/accounting/errors.hpp"
#include "forked_child.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// Whether the child was killed, not ended by itself.
bool killed(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/// Kills its process at the first bit drawn: the token is durable, the data were read, nothing is committed.
class DeadlyBits final : public mechanisms::BitSource {
 public:
  void fill(std::span<std::byte>) override { raise(SIGKILL); }
};

}  // namespace

TEST_CASE("processes: a commit killed between reading and COMMIT leaves a reservation that is not given back",
          "[engine][requests][crash]") {
  for (const char* after : {"cancel", "expire", "commit"}) {
    CAPTURE(after);
    WaitingClinic waiting;
    std::string id;
    {
      Engine first = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
      id = first.reserve(held(request("count", "0.5")), {}).recorded.decision_id;
    }
    CHECK(killed(in_child([&] {
      Engine engine = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
      DeadlyBits bits;
      (void)engine.commit(id, "alice", std::nullopt, bits, {});
    })));
    const Answer open = waiting.engine.show(id, {});
    CHECK(text(open.recorded.state) == "reserved");
    CHECK_FALSE(open.recorded.data_accessed_by.empty());
    CHECK(waiting.balance() == "0/0.5");
    if (after == std::string("cancel")) {
      CHECK(text(waiting.engine.cancel(id, "alice").recorded.state) == "forfeited");
    } else if (after == std::string("expire")) {
      waiting.clock.pass_seconds(3600);
      REQUIRE(release(waiting.engine, request("count", "0.25")).recorded.granted);
      CHECK(text(waiting.engine.show(id, {}).recorded.state) == "forfeited");
    } else {
      CHECK(waiting.commit(id).recorded.granted);
    }
    CHECK(waiting.balance() == (after == std::string("expire") ? "0.75/0" : "0.5/0"));
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE(
    "processes: kill -9 at a hundred random moments of reserve, commit and cancel loses none and "
    "charges none twice",
    "[engine][requests][crash]") {
  Clinic clinic("epsilon: 1000");
  std::mt19937 random(20261121);  // decides only when to kill
  int rounds_acknowledged = 0;
  for (int round = 0; round < 100; ++round) {
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    const pid_t child = in_child([&] {
      close(pipe_ends[0]);
      Engine engine = clinic.open();
      mechanisms::SystemBits bits;
      for (int i = 0;; ++i) {
        const std::string key = std::to_string(round) + "-" + std::to_string(i);
        const std::string statistic = i % 2 == 0 ? "count" : "value:score";
        const std::string id =
            engine.reserve(held(request(statistic, "0.001", key)), {}).recorded.decision_id;
        if (i % 3 == 2) {
          (void)engine.cancel(id, "alice");
        } else {
          (void)engine.commit(id, "alice", i % 2 == 0 ? std::nullopt : std::optional<std::string>("5"), bits,
                              {});
        }
        if (write(pipe_ends[1], &i, sizeof i) != static_cast<ssize_t>(sizeof i)) _exit(98);
      }
    });
    close(pipe_ends[1]);
    int done = -1;
    const auto take = [&] {
      return read(pipe_ends[0], &done, sizeof done) == static_cast<ssize_t>(sizeof done);
    };
    if (round % 4 != 0) REQUIRE(take());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (take()) continue;
    close(pipe_ends[0]);
    rounds_acknowledged += done >= 0 ? 1 : 0;
    // Whatever was acknowledged ended as it was told.
    Engine engine = clinic.open();
    for (int i = 0; i <= done; ++i) {
      const std::string key = std::to_string(round) + "-" + std::to_string(i);
      const Answer again =
          engine.reserve(held(request(i % 2 == 0 ? "count" : "value:score", "0.001", key)), {});
      REQUIRE(again.recorded.replayed);
      const RequestState cancelled = i % 2 == 0 ? RequestState::cancelled : RequestState::forfeited;
      CHECK(again.recorded.state == (i % 3 == 2 ? cancelled : RequestState::granted));
    }
  }
  CHECK(rounds_acknowledged >= 75);
  const auto report = engine::audit_verify(clinic.ledger());
  INFO((report.faults.empty() ? "" : report.faults.front().message));
  CHECK(report.ok);
  // What a dead process left open is still reserved, and ends as the rule says.
  Engine engine = clinic.open();
  std::vector<std::string> open;
  engine.pending("", [&](const Answer& answer) { open.push_back(answer.recorded.decision_id); });
  CHECK(engine.budget("clinic").at(0).balance.reserved ==
        static_cast<std::int64_t>(open.size()) * accounting::Epsilon::parse_down("0.001").units());
  for (const std::string& id : open) {
    const Answer answer = engine.show(id, {});
    const bool seen = !answer.recorded.data_accessed_by.empty() || answer.asked.statistic == "value:score";
    CHECK(engine.cancel(id, "alice").recorded.state ==
          (seen ? RequestState::forfeited : RequestState::cancelled));
  }
  CHECK(engine.budget("clinic").at(0).balance.reserved == 0);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}
