// Reservations and approvals across processes that die, and through long random sequences.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>
#include <thread>

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;
using engine::Holding;
using engine::RequestState;

namespace {

/// Runs `work` in a child process.
template <class Work>
pid_t in_child(Work work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 99;
  try {
    work();
    status = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  _exit(status);
}

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

engine::Request held(const std::string& statistic, const std::string& epsilon, const std::string& key = "") {
  engine::Request asked = request(statistic, epsilon, key);
  asked.holding = Holding::reserved;
  return asked;
}

}  // namespace

TEST_CASE("processes: a commit killed between reading and COMMIT leaves a reservation that is not given back",
          "[engine][requests][crash]") {
  for (const char* after : {"cancel", "expire", "commit"}) {
    CAPTURE(after);
    WaitingClinic waiting;
    std::string id;
    {
      Engine first = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
      id = first.reserve(held("count", "0.5"), {}).decision_id;
    }
    CHECK(killed(in_child([&] {
      Engine engine = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
      DeadlyBits bits;
      (void)engine.commit(id, "alice", std::nullopt, bits, {});
    })));
    const Answer open = waiting.engine.show(id, {});
    CHECK(text(open.state) == "reserved");
    CHECK_FALSE(open.token.empty());
    CHECK(waiting.balance() == "0/0.5");
    if (after == std::string("cancel")) {
      CHECK(text(waiting.engine.cancel(id, "alice").state) == "forfeited");
    } else if (after == std::string("expire")) {
      waiting.clock.pass_seconds(3600);
      REQUIRE(release(waiting.engine, request("count", "0.25")).granted);
      CHECK(text(waiting.engine.show(id, {}).state) == "forfeited");
    } else {
      CHECK(waiting.commit(id).granted);
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
        const std::string id = engine.reserve(held(statistic, "0.001", key), {}).decision_id;
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
      const Answer again = engine.reserve(held(i % 2 == 0 ? "count" : "value:score", "0.001", key), {});
      REQUIRE(again.replayed);
      const RequestState cancelled = i % 2 == 0 ? RequestState::cancelled : RequestState::forfeited;
      CHECK(again.state == (i % 3 == 2 ? cancelled : RequestState::granted));
    }
  }
  CHECK(rounds_acknowledged >= 75);
  const auto report = engine::audit_verify(clinic.ledger());
  INFO((report.faults.empty() ? "" : report.faults.front().message));
  CHECK(report.ok);
  // What a dead process left open is still reserved, and ends as the rule says.
  Engine engine = clinic.open();
  std::vector<std::string> open;
  engine.pending("", [&](const Answer& answer) { open.push_back(answer.decision_id); });
  CHECK(engine.budget("clinic").at(0).balance.reserved ==
        static_cast<std::int64_t>(open.size()) * accounting::Epsilon::parse_down("0.001").units());
  for (const std::string& id : open) {
    const Answer answer = engine.show(id, {});
    const bool seen = !answer.token.empty() || answer.statistic == "value:score";
    CHECK(engine.cancel(id, "alice").state == (seen ? RequestState::forfeited : RequestState::cancelled));
  }
  CHECK(engine.budget("clinic").at(0).balance.reserved == 0);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

namespace {

/// A random walk through every verb, with a model of the one account beside it.
class RandomWalk {
 public:
  explicit RandomWalk(unsigned seed)
      : waiting_("{required: 2, by: {principals: [dave, alice], roles: [custodian]}, above: {epsilon: 0.03}}",
                 "epsilon: 2"),
        random_(seed) {}

  void step() {
    switch (below(12)) {
      case 0:
        return look(release(waiting_.engine, request("count", amount())));
      case 1:
        return look(release(waiting_.engine, supplied("5", amount())));
      case 2:
      case 3:
        return look(waiting_.reserve(below(2) == 0 ? "count" : "value:score", amount()));
      case 4:
        return look(waiting_.reserve("value:score", amount(), Holding::reserved_against_token));
      case 5:
      case 6:
        return act([&](const std::string& id) {
          const bool computed = waiting_.engine.show(id, {}).statistic == "count";
          look(waiting_.commit(id, computed ? std::nullopt : std::optional<std::string>("5")));
        });
      case 7:
        return act([&](const std::string& id) { look(waiting_.engine.cancel(id, "alice")); });
      case 8:
        return act([&](const std::string& id) { look(waiting_.engine.issue_token(id, "alice")); });
      case 9:
        return act([&](const std::string& id) {
          look(waiting_.engine.approve(id, below(2) == 0 ? "carol" : "dave"));
        });
      case 10:
        return act([&](const std::string& id) { look(waiting_.engine.reject(id, "dave", "")); });
      default:
        waiting_.clock.pass_seconds(below(1200));
    }
  }

  /// spent + reserved <= limit, and both are what the history adds up to.
  void check() {
    std::int64_t spent = 0;
    std::map<std::string, std::int64_t> reserved;
    waiting_.engine.history("", 0, [&](const Answer& answer) {
      const std::int64_t cost = accounting::Epsilon::parse_down(answer.record.charged).units();
      ++seen_[text(answer.state)];
      if (answer.state == RequestState::reserved) reserved[answer.decision_id] = cost;
      const bool spends = answer.state == RequestState::granted || answer.state == RequestState::forfeited;
      if (spends) spent += cost;
      const bool ends =
          spends || answer.state == RequestState::cancelled || answer.state == RequestState::expired;
      if (ends) reserved.erase(answer.parent);
    });
    std::int64_t held = 0;
    for (const auto& [id, cost] : reserved) held += cost;
    const accounting::Balance balance = waiting_.engine.budget("clinic").at(0).balance;
    CHECK(balance.spent == spent);
    CHECK(balance.reserved == held);
    CHECK(balance.spent + balance.reserved <= balance.limit);
    INFO(waiting_.audit());
    CHECK(waiting_.audit().empty());
  }

  [[nodiscard]] std::map<std::string, int> seen() const { return seen_; }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  std::string amount() { return "0.0" + std::to_string(1 + below(4)); }
  void look(const Answer& answer) {
    if (answer.state == RequestState::reserved || answer.state == RequestState::pending || below(16) == 0) {
      ids_.push_back(answer.decision_id);
    }
  }
  /// On any request there was, mostly one that can take it.
  template <class Act>
  void act(const Act& act) {
    if (ids_.empty()) return;
    const std::size_t back = std::min<std::size_t>(ids_.size(), 1 + below(8));
    try {
      act(ids_[ids_.size() - back]);
    } catch (const NotFound&) {
    } catch (const InvalidParameter&) {
    }
  }

  WaitingClinic waiting_;
  std::mt19937 random_;
  std::vector<std::string> ids_;
  std::map<std::string, int> seen_;
};

void walk(unsigned seeds, int steps) {
  std::map<std::string, int> seen;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    RandomWalk random(seed);
    for (int i = 0; i < steps; ++i) random.step();
    random.check();
    for (const auto& [state, count] : random.seen()) seen[state] += count;
  }
  for (const char* state : {"granted", "denied", "pending", "reserved", "approved", "rejected",
                            "token_issued", "cancelled", "expired", "forfeited"}) {
    CAPTURE(state);
    CHECK(seen[state] > 0);
  }
}

}  // namespace

TEST_CASE("requests: through random sequences of every verb balances are the fold of the history",
          "[engine][requests][property]") {
  walk(4, 400);
}

TEST_CASE("requests: through a hundred thousand random steps balances are the fold of the history",
          "[.long][engine][requests][property]") {
  walk(100, 1000);
}
