// What was read from data leaves at a tick, in the order in which it was asked.
#include "answer_tick.hpp"

#include <future>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;
using std::chrono::milliseconds;

namespace {

using Steady = std::chrono::steady_clock;

/// How far a tick may be from where the wall clock has it: as the clocks are read, and by how much it is
/// late.
constexpr std::int64_t kAsRead = 4;

Engine ticking(const std::string& ledger, std::int64_t after_ms, std::int64_t every_ms) {
  engine::EngineOptions options;
  options.answers = TickedAnswers{after_ms, every_ms};
  return Engine::open(ledger, options);
}

std::int64_t wall_ms() {
  return std::chrono::floor<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::int64_t time_ms(const Answer& answer) {
  return ledger::parse_time(answer.recorded.created_at);
}

template <class Call>
milliseconds lasts(const Call& call) {
  const auto begun = Steady::now();
  call();
  return std::chrono::floor<milliseconds>(Steady::now() - begun);
}

}  // namespace

TEST_CASE("ticks: each is a multiple of the wall clock, the first that is far enough behind an arrival",
          "[engine][ticks]") {
  constexpr std::int64_t kAfter = 70, kEvery = 100;
  AnswerTicks ticks({.after_ms = kAfter, .every_ms = kEvery});
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const Steady::time_point now = Steady::now();
  const Steady::time_point first = ticks.due(now);
  for (int i = 0; i < 1'000; ++i) {
    const Steady::time_point arrived = now + milliseconds(i);
    const Steady::time_point due = ticks.due(arrived);
    CHECK(due >= arrived + milliseconds(kAfter));
    CHECK(due < arrived + milliseconds(kAfter + kEvery + kAsRead));
    CHECK((due - first) % milliseconds(kEvery) == Steady::duration::zero());
    const auto shown = std::chrono::floor<milliseconds>(wall + (due - now)).count() % kEvery;
    CHECK(shown <= kAsRead);
  }
  // Who took longer than that waits for the next from now on, not for one that is over.
  CHECK(ticks.due(now - milliseconds(5'000)) >= Steady::now());
}

TEST_CASE("ticks: a release that reads data has the time of its tick, as has a commit", "[engine][ticks]") {
  constexpr std::int64_t kAfter = 150, kEvery = 100;
  const Clinic clinic("epsilon: 3");
  Engine engine = ticking(clinic.ledger(), kAfter, kEvery);
  mechanisms::SystemBits bits;
  const auto at_tick = [&](const auto& ask) {
    const std::int64_t asked = wall_ms();
    const Answer answer = ask();
    REQUIRE(answer.recorded.granted);
    CHECK(time_ms(answer) % kEvery == 0);
    CHECK(time_ms(answer) >= asked + kAfter - kAsRead);
  };
  at_tick([&] { return release(engine, request("count", "0.1")); });
  at_tick([&] {
    const engine::Request one = request("sum:cost", "0.1"), other = supplied("4", "0.1");
    const std::vector<engine::Request> both{other, one};
    return release_many(engine, both).back();
  });
  at_tick([&] {
    std::promise<Answer> told;
    engine.submit(request("count", "0.2"), bits, {},
                  [&](engine::SubmissionOutcome outcome) { told.set_value(std::move(*outcome.answer)); });
    return told.get_future().get();
  });
  engine::Request held = request("count", "0.1");
  held.reservation = engine::ReservationKind::reserved;
  const Answer reserved = engine.reserve(held, {});
  at_tick([&] { return commit(engine, reserved.recorded.decision_id); });
}

TEST_CASE("ticks: what is due at one tick is recorded as it was asked, whichever was ready first",
          "[engine][ticks]") {
  const Clinic clinic("epsilon: 1000");
  Engine engine = ticking(clinic.ledger(), 200, 200);
  enum class Slow { release, commit };
  for (const Slow slow : {Slow::release, Slow::commit}) {
    // A machine that stalls lets one miss its tick: then nothing is seen of their order.
    int together = 0;
    for (int round = 0; round < 40 && together < 2; ++round) {
      std::string reserved;
      if (slow == Slow::commit) {
        engine::Request held = request("count", "0.1");
        held.reservation = engine::ReservationKind::reserved;
        reserved = engine.reserve(held, {}).recorded.decision_id;
      }
      std::promise<void> reads, ready;
      Answer first, second;
      std::thread asks_first([&] {
        mechanisms::SystemBits bits;
        const auto waits = [&](double) {
          reads.set_value();
          ready.get_future().wait();
          std::this_thread::sleep_for(milliseconds(30));  // it is ready long after the second
        };
        first = slow == Slow::commit ? engine.commit(reserved, "alice", std::nullopt, bits, {}, waits)
                                     : engine.release(request("count", "0.1"), bits, {}, waits);
      });
      reads.get_future().wait();
      std::thread asks_second([&] {
        mechanisms::SystemBits bits;
        second = engine.release(request("sum:cost", "0.1"), bits, {}, [&](double) { ready.set_value(); });
      });
      asks_first.join();
      asks_second.join();
      if (time_ms(first) != time_ms(second)) continue;
      ++together;
      CHECK(first.recorded.seq < second.recorded.seq);
    }
    CHECK(together == 2);
  }
}

TEST_CASE("ticks: what reads no data is answered at once", "[engine][ticks]") {
  const Clinic clinic("epsilon: 1");
  Engine before = ticking(clinic.ledger(), 0, 1'000);
  mechanisms::SystemBits bits;
  const Answer old = before.release(request("count", "0.1", "k"), bits, {});
  Engine engine = ticking(clinic.ledger(), engine::kTickedAfterMost, 1'000);
  const milliseconds all = lasts([&] {
    const Answer again = engine.release(request("count", "0.1", "k"), bits, {});
    CHECK(again.recorded.replayed);
    CHECK(again.recorded.decision_id == old.recorded.decision_id);
    for (int i = 0; i < 3; ++i) {
      const Answer refused = engine.release(request("count", "7"), bits, {});
      CHECK_FALSE(refused.recorded.granted);
      CHECK(time_ms(refused) % 1'000 == 0);
    }
    CHECK(engine.release(supplied("4", "0.1"), bits, {}).recorded.granted);
    engine::Request held = supplied("4", "0.1");
    held.supplied.reset();
    held.reservation = engine::ReservationKind::reserved;
    const Answer reserved = engine.reserve(held, {});
    CHECK(engine.commit(reserved.recorded.decision_id, "alice", "4", bits, {}).recorded.granted);
  });
  CHECK(all < milliseconds(engine::kTickedAfterMost));
}

TEST_CASE("ticks: what is wrong with data is told at a tick, and nothing is charged", "[engine][ticks]") {
  constexpr std::int64_t kAfter = 200;
  const TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  folder.write("policy.yaml",
               "version: 1\n"
               "datasets:\n"
               "  clinic:\n"
               "    source: {csv: visits.csv}\n"
               "    unit: {id: patient_id, max_rows: 3}\n"
               "    rows: {exact: 7}\n"
               "    neighbours: replace-one\n"
               "    budget: {epsilon: 3}\n"
               "    columns: {age: {type: int, bounds: [0, 110], missing: 50}}\n");
  const std::string ledger = folder.path("seven.ledger");
  Engine::init(folder.path("policy.yaml"), ledger, "curator");
  Engine engine = ticking(ledger, kAfter, 100);
  engine::Request held = request("sum:age", "0.1");
  held.reservation = engine::ReservationKind::reserved;
  const std::string reserved = engine.reserve(held, {}).recorded.decision_id;
  const std::int64_t decisions = engine.newest_seq();
  const milliseconds released =
      lasts([&] { CHECK_THROWS_AS(release(engine, request("sum:age", "0.1")), SourceError); });
  CHECK(released.count() >= kAfter);
  CHECK(engine.newest_seq() == decisions);
  const milliseconds committed = lasts([&] { CHECK_THROWS_AS(commit(engine, reserved), SourceError); });
  CHECK(committed.count() >= kAfter);
}

TEST_CASE("ticks: an engine refuses those that no clock shows", "[engine][ticks]") {
  const Clinic clinic;
  for (const TickedAnswers& wrong :
       {TickedAnswers{0, 0}, TickedAnswers{0, 5}, TickedAnswers{0, 300}, TickedAnswers{0, 2'000},
        TickedAnswers{0, -100}, TickedAnswers{-1, 100}, TickedAnswers{engine::kTickedAfterMost + 1, 100}}) {
    engine::EngineOptions options;
    options.answers = wrong;
    CHECK_THROWS_AS(Engine::open(clinic.ledger(), options), InvalidParameter);
  }
}
