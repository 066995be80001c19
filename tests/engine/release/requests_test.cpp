// Reservations: what they hold, who ends them, and what that costs (docs/reservations.md).
#include "epsilog/accounting/errors.hpp"
#include "in_threads.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// The last record, as "state by principal".
std::string last(const WaitingClinic& waiting) {
  std::string line;
  waiting.engine.history("", 1, [&line](const Answer& answer) {
    line = text(answer.recorded.state) + " by " + answer.asked.principal;
  });
  return line;
}

}  // namespace

TEST_CASE("reservation: holds what the release costs until it is committed, and charges exactly that",
          "[engine][requests]") {
  WaitingClinic waiting;
  const Answer reserved = waiting.reserve("mean:cost", "0.5");
  CHECK(text(reserved.recorded.state) == "reserved");
  CHECK_FALSE(reserved.recorded.granted);
  CHECK(reserved.released.values.empty());
  CHECK(reserved.recorded.deadline > reserved.recorded.created_at);
  CHECK(waiting.balance() == "0/0.5");
  const Answer granted = waiting.commit(reserved.recorded.decision_id);
  CHECK(granted.recorded.granted);
  CHECK(granted.released.values.size() == 1);
  CHECK(granted.recorded.parent == reserved.recorded.decision_id);
  CHECK(waiting.balance() == "0.5/0");
  CHECK(decisions(waiting.engine) == 3);  // reserved, token, granted
  CHECK(waiting.audit().empty());
}

TEST_CASE("reservation: what is reserved is not there for others", "[engine][requests][negative]") {
  WaitingClinic waiting("", "epsilon: 1");
  REQUIRE(text(waiting.reserve("count", "0.75").recorded.state) == "reserved");
  const Answer refused = release(waiting.engine, request("count", "0.5"));
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].reserved == "0.75");
  CHECK(refused.recorded.reasons[0].fits == "0.25");
  CHECK(release(waiting.engine, request("count", "0.25")).recorded.granted);
  CHECK(text(waiting.reserve("count", "0.25").recorded.state) == "refused");
  CHECK(waiting.audit().empty());
}

TEST_CASE("reservation: the same key replays it, whatever became of it", "[engine][requests]") {
  WaitingClinic waiting;
  const Answer first = waiting.reserve("count", "0.5", ReservationKind::reserved, "k");
  const Answer again = waiting.reserve("count", "0.5", ReservationKind::reserved, "k");
  CHECK(again.recorded.replayed);
  CHECK(again.recorded.decision_id == first.recorded.decision_id);
  CHECK(again.recorded.deadline == first.recorded.deadline);
  CHECK(waiting.balance() == "0/0.5");
  // A release asks something else than a reservation, and a guarded one something else than a plain one.
  CHECK(release(waiting.engine, request("count", "0.5", "k")).recorded.reasons.at(0).code ==
        engine::RefusalCode::key_conflict);
  const Answer granted = waiting.commit(first.recorded.decision_id);
  const Answer after = waiting.reserve("count", "0.5", ReservationKind::reserved, "k");
  CHECK(after.recorded.replayed);
  CHECK(after.released.values == granted.released.values);
  CHECK(after.recorded.decision_id == granted.recorded.decision_id);
  CHECK(waiting.balance() == "0.5/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("reservation: a replay shows no balance that the asker may not see any more", "[engine][requests]") {
  WaitingClinic waiting;
  const Answer first = waiting.reserve("count", "0.5", ReservationKind::reserved, "k");
  REQUIRE(waiting.commit(first.recorded.decision_id).recorded.accounts.size() == 1);
  const std::string rules = waiting_rules("");
  const std::string others = "    allow: {principals: [bob]}\n";
  waiting.clinic.folder.write("next.yaml", clinic_policy("epsilon: 3", others + rules));
  REQUIRE(waiting.engine.apply_policy(waiting.clinic.folder.path("next.yaml"), "curator", "test").changed);
  const Answer again = waiting.reserve("count", "0.5", ReservationKind::reserved, "k");
  REQUIRE(again.recorded.replayed);
  CHECK(again.released.values.size() == 1);
  CHECK(again.recorded.accounts.empty());
}

TEST_CASE("commit: a second one returns the stored answer and costs nothing", "[engine][requests]") {
  WaitingClinic waiting;
  for (const char* value : {"", "7.25"}) {
    const bool computed = *value == '\0';
    const Answer reserved = waiting.reserve(computed ? "count" : "value:score", "0.5");
    const auto supplied = computed ? std::nullopt : std::optional<std::string>(value);
    const Answer granted = waiting.commit(reserved.recorded.decision_id, supplied);
    CHECK_FALSE(granted.recorded.replayed);
    const std::string balance = waiting.balance();
    const Answer again = waiting.commit(reserved.recorded.decision_id, computed ? supplied : "1.5");
    CHECK(again.recorded.replayed);
    CHECK(again.recorded.decision_id == granted.recorded.decision_id);
    CHECK(again.released.values == granted.released.values);
    CHECK(waiting.balance() == balance);
    // Any decision of the family names it.
    CHECK(waiting.commit(granted.recorded.decision_id, supplied).recorded.decision_id ==
          granted.recorded.decision_id);
    const std::string& accessed = granted.recorded.data_accessed_by;
    CHECK(accessed.empty() == supplied.has_value());
    CHECK(waiting.commit(accessed.empty() ? reserved.recorded.decision_id : accessed, supplied)
              .recorded.replayed);
  }
  CHECK(waiting.audit().empty());
}

TEST_CASE("reservation: keeps its plan when another policy is applied meanwhile", "[engine][requests]") {
  WaitingClinic waiting("");
  const Answer reserved = waiting.reserve("sum:cost", "0.5");
  const auto apply = [&](const std::string& yaml) {
    waiting.clinic.folder.write("next.yaml", yaml);
    return waiting.engine.apply_policy(waiting.clinic.folder.path("next.yaml"), "curator", "test");
  };
  std::string wider = clinic_policy("epsilon: 4", waiting_rules(""));
  wider.replace(wider.find("[0, 5000]"), 9, "[0, 9000]");
  REQUIRE(apply(wider).changed);
  CHECK_THROWS_AS(apply(clinic_policy("epsilon: 0.25", waiting_rules(""))), PolicyError);
  REQUIRE(apply(clinic_policy("epsilon: 0.5", waiting_rules(""))).changed);
  const Answer granted = waiting.commit(reserved.recorded.decision_id);
  REQUIRE(granted.recorded.granted);
  CHECK(granted.planned.policy_version == 1);
  CHECK(granted.planned.record == reserved.planned.record);
  CHECK(waiting.balance() == "0.5/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("cancel: every row of the table of who may have seen the data", "[engine][requests]") {
  struct Row {
    const char* statistic;
    ReservationKind reservation;
    bool issue;
    const char* state;
    const char* balance;
  };
  for (const Row& row :
       {Row{"count", ReservationKind::reserved, false, "cancelled", "0/0"},
        Row{"value:score", ReservationKind::reserved, false, "forfeited", "0.5/0"},
        Row{"value:score", ReservationKind::reserved_against_token, false, "cancelled", "0/0"},
        Row{"value:score", ReservationKind::reserved_against_token, true, "forfeited", "0.5/0"}}) {
    for (const bool expire : {false, true}) {
      CAPTURE(row.statistic, row.issue, row.state, expire);
      WaitingClinic waiting;
      const Answer reserved = waiting.reserve(row.statistic, "0.5", row.reservation);
      if (row.issue)
        CHECK_FALSE(
            waiting.engine.issue_token(reserved.recorded.decision_id, "alice").recorded.token.empty());
      Answer ended;
      if (expire) {
        waiting.clock.pass_seconds(3599);
        REQUIRE(release(waiting.engine, request("count", "0.25")).recorded.granted);
        CHECK(text(waiting.engine.show(reserved.recorded.decision_id, {}).recorded.state) == "reserved");
        waiting.clock.pass_seconds(1);
        REQUIRE(release(waiting.engine, request("count", "0.25")).recorded.granted);
        ended = waiting.engine.show(reserved.recorded.decision_id, {});
      } else {
        ended = waiting.engine.cancel(reserved.recorded.decision_id, "alice");
      }
      CHECK(text(ended.recorded.state) ==
            (std::string(row.state) == "cancelled" && expire ? "expired" : row.state));
      CHECK_FALSE(ended.recorded.ended_by.empty());
      if (!expire) CHECK(waiting.balance() == row.balance);
      if (expire) CHECK(waiting.balance() == (std::string(row.state) == "forfeited" ? "1/0" : "0.5/0"));
      // Said again, it says what became of it, and costs nothing more.
      const std::string balance = waiting.balance();
      const std::size_t count = decisions(waiting.engine);
      CHECK(text(waiting.engine.cancel(reserved.recorded.decision_id, "alice").recorded.state) ==
            text(ended.recorded.state));
      CHECK(waiting.balance() == balance);
      CHECK(decisions(waiting.engine) == count);
      CHECK(waiting.audit().empty());
    }
  }
}

TEST_CASE("commit: a value against a token is refused before the token was issued",
          "[engine][requests][negative]") {
  WaitingClinic waiting;
  const Answer reserved = waiting.reserve("value:score", "0.5", ReservationKind::reserved_against_token);
  CHECK_THROWS_AS(waiting.commit(reserved.recorded.decision_id, "3"), InvalidParameter);
  CHECK(decisions(waiting.engine) == 1);
  const Answer issued = waiting.engine.issue_token(reserved.recorded.decision_id, "alice");
  CHECK(last(waiting) == "data_accessed by alice");
  CHECK(waiting.engine.issue_token(reserved.recorded.decision_id, "alice").recorded.token ==
        issued.recorded.token);
  CHECK(decisions(waiting.engine) == 2);
  CHECK(waiting.commit(reserved.recorded.decision_id, "3").recorded.granted);
  CHECK(waiting.audit().empty());
}

TEST_CASE("requests: what does not fit them changes nothing", "[engine][requests][negative]") {
  WaitingClinic waiting;
  const Answer count = waiting.reserve("count", "0.25");
  const Answer value = waiting.reserve("value:score", "0.25");
  const Answer plain = release(waiting.engine, request("count", "0.25"));
  const std::string balance = waiting.balance();
  const std::size_t before = decisions(waiting.engine);
  CHECK_THROWS_AS(waiting.commit(count.recorded.decision_id, "3"), InvalidParameter);
  CHECK_THROWS_AS(waiting.commit(value.recorded.decision_id), InvalidParameter);
  CHECK_THROWS_AS(waiting.commit(plain.recorded.decision_id), NotFound);
  CHECK_THROWS_AS(waiting.engine.cancel(plain.recorded.decision_id, "alice"), NotFound);
  CHECK_THROWS_AS(waiting.commit("00000000000000000000000000"), NotFound);
  CHECK_THROWS_AS(waiting.engine.issue_token(value.recorded.decision_id, "alice"), InvalidParameter);
  CHECK_THROWS_AS(waiting.reserve("count", "0.25", ReservationKind::reserved_against_token),
                  InvalidParameter);
  CHECK_THROWS_AS(waiting.reserve("count", "0.25", ReservationKind::none), InvalidParameter);
  engine::Request with_value = held(supplied("3", "0.25"));
  CHECK_THROWS_AS(waiting.engine.reserve(with_value, {}), InvalidParameter);
  engine::Request held = request("count", "0.25");
  held.reservation = ReservationKind::reserved;
  CHECK_THROWS_AS(release(waiting.engine, held), InvalidParameter);
  CHECK_THROWS_AS(waiting.commit(count.recorded.decision_id, {}, "bob"), engine::NotPermitted);
  CHECK_THROWS_AS(waiting.engine.cancel(count.recorded.decision_id, "bob"), engine::NotPermitted);
  CHECK_THROWS_AS(waiting.engine.cancel(count.recorded.decision_id, "eve"), engine::NotPermitted);
  CHECK_THROWS_AS(waiting.engine.approve(count.recorded.decision_id, "eve"), engine::NotPermitted);
  CHECK_THROWS_AS(waiting.engine.reject(count.recorded.decision_id, "bob", ""), engine::NotPermitted);
  CHECK(waiting.balance() == balance);
  CHECK(decisions(waiting.engine) == before);
  CHECK(waiting.audit().empty());
}

TEST_CASE("requests: every decision says how whoever it names was known", "[engine][requests][identity]") {
  WaitingClinic waiting;
  engine::Request asked = request("count", "0.25", "k");
  CHECK(waiting.engine.plan(asked, {}).asked.via.empty());
  asked.via = "token:t1";
  CHECK(release(waiting.engine, asked).asked.via == "token:t1");
  asked.via = "unix:1000";  // who asks again is told what was recorded
  CHECK(release(waiting.engine, asked).asked.via == "token:t1");
  CHECK(release(waiting.engine, request("count", "0.25")).asked.via == "claimed");
  engine::Request large = request("count", "1");
  large.via = "token:alice";
  const std::string first = release(waiting.engine, large).recorded.decision_id;
  const std::string second = release(waiting.engine, large).recorded.decision_id;
  CHECK(waiting.engine.approve(first, {"carol", "unix:7"}).recorded.approvals[0].via == "unix:7");
  const Answer reserved = waiting.engine.approve(first, {"dave", "token:d"});
  CHECK(reserved.recorded.approvals[1].via == "token:d");
  CHECK(reserved.asked.via == "token:alice");
  waiting.clock.pass_seconds(3 * 3600);  // what was approved and what still waits end by their deadlines
  large.via = "unix:1001";
  large.reservation = ReservationKind::reserved;
  large.epsilon = accounting::parse_rational("0.5", "epsilon");
  const Answer held = waiting.engine.reserve(large, {});
  static_cast<void>(waiting.engine.cancel(held.recorded.decision_id, {"alice", "unix:1002"}));
  mechanisms::SystemBits bits;
  const Answer kept = waiting.engine.reserve(large, {});
  CHECK(waiting.engine.commit(kept.recorded.decision_id, {"alice", "token:t2"}, {}, bits, {}).asked.via ==
        "unix:1001");
  std::string told;
  waiting.engine.history("", 0, [&told](const Answer& answer) {
    told += text(answer.recorded.state) + " " + answer.asked.principal + " " + answer.asked.via + "\n";
  });
  CHECK(told ==
        "granted alice token:t1\n"
        "granted alice claimed\n"
        "pending alice token:alice\n"
        "pending alice token:alice\n"
        "approved carol unix:7\n"
        "approved dave token:d\n"
        "reserved alice token:alice\n"
        "expired alice token:alice\n"
        "expired alice token:alice\n"
        "reserved alice unix:1001\n"
        "cancelled alice unix:1002\n"
        "reserved alice unix:1001\n"
        "data_accessed alice token:t2\n"
        "granted alice token:t2\n");
  for (const char* via : {"", "alice", "token:", "unix:\n", "password:x"}) {
    CAPTURE(via);
    asked.via = via;
    CHECK_THROWS_AS(release(waiting.engine, asked), InvalidParameter);
    CHECK_THROWS_AS(waiting.engine.reject(second, {"dave", via}, ""), InvalidParameter);
  }
  CHECK(waiting.audit().empty());
}

TEST_CASE("requests: without declared principals whoever can write the ledger may commit and cancel",
          "[engine][requests]") {
  auto [clinic, engine] = Open<Clinic>();
  engine::Request asked = held(request("count", "0.5"));
  const Answer first = engine.reserve(asked, {});
  mechanisms::SystemBits bits;
  const Answer granted = engine.commit(first.recorded.decision_id, "mallory", std::nullopt, bits, {});
  CHECK(granted.recorded.granted);
  CHECK(granted.asked.principal == "alice");
  const Answer second = engine.reserve(asked, {});
  CHECK(text(engine.cancel(second.recorded.decision_id, "mallory").recorded.state) == "cancelled");
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("commit: a source that is missing is found before the data may have been seen",
          "[engine][requests][negative]") {
  WaitingClinic waiting;
  const Answer reserved = waiting.reserve("count", "0.5");
  std::filesystem::rename(waiting.clinic.folder.path("visits.csv"), waiting.clinic.folder.path("away.csv"));
  CHECK_THROWS_AS(waiting.commit(reserved.recorded.decision_id), SourceError);
  CHECK(decisions(waiting.engine) == 1);
  std::filesystem::rename(waiting.clinic.folder.path("away.csv"), waiting.clinic.folder.path("visits.csv"));
  CHECK(text(waiting.engine.cancel(reserved.recorded.decision_id, "alice").recorded.state) == "cancelled");
  CHECK(waiting.balance() == "0/0");
}

TEST_CASE("commit: one that began in time may end after the deadline, unless it was ended meanwhile",
          "[engine][requests]") {
  for (const bool ended : {false, true}) {
    WaitingClinic waiting;
    const Answer reserved = waiting.reserve("count", "0.5");
    Engine other = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
    mechanisms::SystemBits bits;
    bool passed = false;
    const auto while_reading = [&](double) {
      if (passed) return;
      passed = true;
      waiting.clock.pass_seconds(3600);
      if (ended) CHECK(release(other, request("count", "0.25")).recorded.granted);
    };
    const Answer answer =
        waiting.engine.commit(reserved.recorded.decision_id, "alice", std::nullopt, bits, {}, while_reading);
    REQUIRE(passed);
    CHECK(text(answer.recorded.state) == (ended ? "forfeited" : "granted"));
    CHECK(waiting.balance() == (ended ? "0.75/0" : "0.5/0"));
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE("expiry: a backlog ends in order of deadlines before whoever writes next is decided",
          "[engine][requests]") {
  WaitingClinic waiting("", "epsilon: 3");
  for (int i = 0; i < 150; ++i) {
    REQUIRE(text(waiting.reserve("count", "0.02").recorded.state) == "reserved");
    waiting.clock.pass_seconds(1);
  }
  CHECK(text(waiting.reserve("count", "0.02").recorded.state) == "refused");
  waiting.clock.pass_seconds(3600);
  // More than one transaction ends, and yet it all fits at once.
  CHECK(release(waiting.engine, request("count", "3")).recorded.granted);
  std::string deadline;
  int expired = 0;
  waiting.engine.history("", 0, [&](const Answer& answer) {
    if (answer.recorded.state != engine::RequestState::expired) return;
    const std::string of_this = waiting.engine.show(answer.recorded.parent, {}).recorded.deadline;
    CHECK(deadline <= of_this);
    deadline = of_this;
    ++expired;
  });
  CHECK(expired == 150);
  CHECK(waiting.balance() == "3/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("expiry: a policy may take back what nobody holds any more", "[engine][requests]") {
  WaitingClinic waiting("");
  REQUIRE(text(waiting.reserve("count", "2").recorded.state) == "reserved");
  waiting.clinic.folder.write("less.yaml", clinic_policy("epsilon: 1", waiting_rules("")));
  const auto apply = [&] {
    return waiting.engine.apply_policy(waiting.clinic.folder.path("less.yaml"), "curator", "less");
  };
  CHECK_THROWS_AS(apply(), PolicyError);
  waiting.clock.pass_seconds(3600);
  CHECK(apply().changed);
  CHECK(waiting.balance() == "0/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("requests: of a commit and a cancel at once one wins, and both say which",
          "[engine][requests][concurrency]") {
  WaitingClinic waiting("", "epsilon: 100");
  int committed = 0;
  for (int round = 0; round < 40; ++round) {
    const Answer reserved = waiting.reserve("value:score", "0.5");
    Engine other = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
    Answer first;
    Answer second;
    std::thread commits([&] { first = waiting.commit(reserved.recorded.decision_id, "5"); });
    std::thread cancels([&] { second = other.cancel(reserved.recorded.decision_id, "alice"); });
    commits.join();
    cancels.join();
    CHECK(first.recorded.state == second.recorded.state);
    const bool won = first.recorded.state == engine::RequestState::granted;
    CHECK((won || first.recorded.state == engine::RequestState::forfeited));
    CHECK(first.released.values.size() == (won ? 1U : 0U));
    committed += won ? 1 : 0;
  }
  INFO(committed);
  CHECK(waiting.balance() == "20/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("requests: eight threads that commit one reservation get one answer",
          "[engine][requests][concurrency]") {
  WaitingClinic waiting;
  const Answer reserved = waiting.reserve("count", "0.5");
  std::vector<Answer> answers(8);
  in_threads(static_cast<int>(answers.size()), [&](int i) {
    Answer& answer = answers[static_cast<std::size_t>(i)];
    answer = waiting.commit(reserved.recorded.decision_id);
  });
  int fresh = 0;
  for (const Answer& answer : answers) {
    CHECK(answer.recorded.granted);
    CHECK(answer.released.values == answers[0].released.values);
    fresh += answer.recorded.replayed ? 0 : 1;
  }
  CHECK(fresh == 1);
  CHECK(waiting.balance() == "0.5/0");
  CHECK(waiting.audit().empty());
}
