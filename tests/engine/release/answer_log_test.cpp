// Where the line of a decision stands, as answers say it.
//
// What was called                            | index, leaf | size and root
// whatever records a decision                | its own     | of the tree that its COMMIT made durable
// a member of a group, of release_many       | its own     | the same for all of them
// show; the same request again; a verb again | the same    | of today's tree
// plan, history, pending; a poisoned ledger  | none        | none
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"
#include "whole/concurrent_calls.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;
using ledger::LogPosition;

namespace {

/// Held against the ledger, in which nothing was recorded since: the place of the decision that it names.
LogPosition newest(const std::string& path, const Answer& answer) {
  auto view = ledger::Ledger::open_read_only(path).snapshot();
  const LogPosition place = answer.recorded.log.value();
  CHECK(place.tree == view.tree());
  CHECK(static_cast<std::int64_t>(place.index) == view.find_by_id(answer.recorded.decision_id).value().line);
  CHECK(place.leaf == view.leaf(static_cast<std::int64_t>(place.index)));
  view.each_line(static_cast<std::int64_t>(place.index), [&, first = true](std::string_view line) mutable {
    if (!std::exchange(first, false)) return;
    CHECK(line.find(answer.recorded.decision_id) != std::string_view::npos);
    CHECK(ledger::leaf_hash(line) == place.leaf);
  });
  return place;
}

/// Told before, and told again after something else was recorded.
void check_replay(const std::string& path, const LogPosition& before, const Answer& again) {
  const LogPosition now = newest(path, again);
  CHECK(now.index == before.index);
  CHECK(now.leaf == before.leaf);
  CHECK(now.tree.size > before.tree.size);
}

void record_another(Engine& engine) {
  REQUIRE_FALSE(release(engine, request("count", "99")).recorded.granted);
}

}  // namespace

TEST_CASE("answer: every decision says where its line stands, and again in today's tree",
          "[engine][release][log]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3");
  const auto asks = [&](engine::Request asked, const char* state) {
    CAPTURE(state);
    const auto ask = [&] {
      return asked.reservation == ReservationKind::none ? release(engine, asked) : engine.reserve(asked, {});
    };
    const Answer first = ask();
    CHECK(engine::name(first.recorded.state) == state);
    const LogPosition place = newest(clinic.ledger(), first);
    record_another(engine);
    check_replay(clinic.ledger(), place, ask());
    check_replay(clinic.ledger(), place, engine.show(first.recorded.decision_id, {}));
  };
  asks(request("count", "0.1", "granted"), "granted");
  asks(request("count", "99", "refused"), "refused");
  engine::Request held = request("count", "0.1", "held");
  held.reservation = ReservationKind::reserved;
  asks(held, "reserved");
}

TEST_CASE("answer: what becomes of a request that waits says where the line it names stands",
          "[engine][release][log]") {
  WaitingClinic waiting;
  Engine& engine = waiting.engine;
  const std::string path = waiting.clinic.ledger();
  const auto twice = [&](const std::function<Answer()>& act) {
    const Answer first = act();
    const LogPosition place = newest(path, first);
    record_another(engine);
    const Answer again = act();
    CHECK(again.recorded.decision_id == first.recorded.decision_id);
    check_replay(path, place, again);
    return first;
  };
  const auto reserved = [&](const char* statistic, const char* epsilon,
                            ReservationKind reservation = ReservationKind::reserved) {
    const Answer answer = waiting.reserve(statistic, epsilon, reservation);
    (void)newest(path, answer);
    return answer.recorded.decision_id;
  };
  const std::string committed = reserved("count", "0.1");
  CHECK(twice([&] { return commit(engine, committed); }).recorded.granted);
  const std::string cancelled = reserved("count", "0.1");
  CHECK(twice([&] { return engine.cancel(cancelled, "alice"); }).recorded.decision_id == cancelled);
  const std::string guarded = reserved("value:score", "0.1", ReservationKind::reserved_against_token);
  CHECK(twice([&] { return engine.issue_token(guarded, "alice"); }).recorded.decision_id == guarded);
  const std::string forfeited = reserved("value:score", "0.1");
  CHECK(twice([&] { return engine.cancel(forfeited, "alice"); }).recorded.state ==
        engine::RequestState::forfeited);
  const std::string approved = reserved("count", "1");
  CHECK(twice([&] { return engine.approve(approved, "carol"); }).recorded.state ==
        engine::RequestState::pending);
  CHECK(twice([&] { return engine.approve(approved, "dave"); }).recorded.state ==
        engine::RequestState::reserved);
  const std::string rejected = reserved("count", "1");
  CHECK(twice([&] { return engine.reject(rejected, "carol", "no"); }).recorded.state ==
        engine::RequestState::rejected);
}

TEST_CASE("answer: a group, and release_many, have one tree for all that they record",
          "[engine][release][log]") {
  const Clinic clinic("epsilon: 3");
  {
    ConcurrentCalls group(clinic.ledger());
    for (const char* key : {"one", "two", "three"}) group.ask(request("count", "0.1", key));
    group.record();
    group.conclude();
    std::set<std::uint64_t> indices;
    for (const auto& call : group.calls()) {
      REQUIRE(call.answer);
      indices.insert(newest(clinic.ledger(), *call.answer).index);
    }
    CHECK(indices.size() == 3);
  }
  Engine engine = clinic.open();
  const std::vector<engine::Request> asked{request("count", "0.1"), request("count", "99"),
                                           request("count", "0.1", "one")};
  for (const Answer& answer : release_many(engine, asked)) (void)newest(clinic.ledger(), answer);
}

TEST_CASE("answer: a tree is that of the call's own COMMIT, whoever goes on meanwhile",
          "[engine][release][log][concurrency]") {
  constexpr int kTimes = 150;
  WaitingClinic waiting;
  std::atomic<bool> over = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] {
      Engine engine = waiting.clinic.open();
      while (!over) (void)release(engine, request("count", "99"));
    });
  }
  std::vector<Answer> answers;
  for (int i = 0; i < kTimes; ++i) {
    const std::string id = waiting.reserve("count", "0.01").recorded.decision_id;
    answers.push_back(waiting.engine.cancel(id, "alice"));
  }
  over = true;
  for (std::thread& other : others) other.join();
  auto view = ledger::Ledger::open_read_only(waiting.clinic.ledger()).snapshot();
  for (const Answer& answer : answers) {
    // The line of what ended it was the last one.
    const std::int64_t last = view.find_by_id(answer.recorded.ended_by).value().line;
    CHECK(static_cast<std::int64_t>(answer.recorded.log.value().tree.size) == last + 1);
  }
}

TEST_CASE("answer: what records nothing, and what is not known to be durable, says nothing of the log",
          "[engine][release][log][negative]") {
  const Clinic clinic("epsilon: 3");
  std::string id;
  {
    Engine engine = clinic.open();
    id = release(engine, request("count", "0.1", "key")).recorded.decision_id;
    engine::Request held = request("count", "0.1");
    held.reservation = ReservationKind::reserved;
    (void)engine.reserve(held, {});
    CHECK_FALSE(engine.plan(request("count", "0.1"), {}).recorded.log);
    int listed = 0;
    const auto visit = [&](const Answer& answer) {
      ++listed;
      CHECK_FALSE(answer.recorded.log);
    };
    engine.history("", 0, visit);
    engine.pending("", visit);
    CHECK(listed == 3);
  }
  clinic.folder.write("clinic.ledger.poisoned", "{\"reason\": \"committing\"}");
  Engine engine = clinic.open();
  CHECK_FALSE(engine.show(id, {}).recorded.log);
  CHECK_FALSE(release(engine, request("count", "0.1", "key")).recorded.log);
}

TEST_CASE("answer: a tree that cannot be read keeps no value from who asks again",
          "[engine][release][log][negative]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3");
  const Answer first = release(engine, request("count", "0.1", "key"));
  record_another(engine);
  record_another(engine);
  // That of another decision, and not the last one, which L.lock remembers.
  const std::string leaf_of =
      "UPDATE log SET leaf = x'00' WHERE line_index = (SELECT line_index FROM decision WHERE seq = ";
  tamper(clinic.ledger(), leaf_of + "2)");
  const Answer again = release(engine, request("count", "0.1", "key"));
  CHECK(again.released.values == first.released.values);
  CHECK(again.recorded.durable == true);
  CHECK_FALSE(again.recorded.log);
  // Of its own the answer is not vouched for any more.
  tamper(clinic.ledger(), leaf_of + "1)");
  CHECK_THROWS_AS(release(engine, request("count", "0.1", "key")), LedgerCorrupt);
}
