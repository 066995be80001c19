// Reading costs what it reads: every statement of the reading verbs goes by an index, and a history comes in
// pages.
#include <sqlite3.h>

#include "epsilog/accounting/errors.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

std::set<std::string>& statements_run() {
  static std::set<std::string> statements;
  return statements;
}

int note_statement(unsigned, void*, void* statement, void*) {
  statements_run().insert(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
  return 0;
}

int trace(sqlite3* database, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, &note_statement, nullptr);
}

/// The SQL that every connection runs which is opened meanwhile.
template <class Body>
std::set<std::string> statements_of(const Body& body) {
  const auto hook = reinterpret_cast<void (*)()>(&trace);
  statements_run().clear();
  REQUIRE(sqlite3_auto_extension(hook) == SQLITE_OK);
  body();
  sqlite3_cancel_auto_extension(hook);
  return statements_run();
}

/// The lines of the plan of a statement, by SQLite's EXPLAIN QUERY PLAN.
std::vector<std::string> plan_of(const std::string& path, const std::string& sql) {
  std::vector<std::string> lines;
  for (const SqlRow& row : sql_rows(path, "EXPLAIN QUERY PLAN " + sql)) {
    if (row.size() == 4) lines.push_back(row[3]);
  }
  return lines;
}

/// With what statements call them.
const std::set<std::string> kGrowing = {"decision", "d",    "child", "parent", "earlier", "movement",
                                        "m",        "plan", "name",  "log",    "node",    "i"};

/// What scans a table that has rows for decisions; open_decision has what waits only, the rest what policies
/// and clocks did. A full sort is as long as a scan.
std::vector<std::string> scans(const std::string& path, const std::set<std::string>& statements) {
  std::vector<std::string> found;
  for (const std::string& sql : statements) {
    if (!sql.starts_with("SELECT") && !sql.starts_with("WITH")) continue;
    for (const std::string& line : plan_of(path, sql)) {
      const bool grows =
          line.starts_with("SCAN ") && kGrowing.contains(line.substr(5, line.find(' ', 5) - 5));
      if (grows || line.find("USE TEMP B-TREE") != std::string::npos) found.push_back(line + ": " + sql);
    }
  }
  return found;
}

/// Of every kind: grants with and without keys, refusals, reservations that wait and that ended.
struct Lived {
  Lived() {
    for (int i = 0; i < 5; ++i) {
      (void)release(waiting.engine, request("count", "0.0625", i % 2 == 0 ? "k" + std::to_string(i) : ""));
    }
    (void)release(waiting.engine, request("count", "0.125", "k0"));
    open = waiting.reserve("count", "0.0625").recorded.decision_id;
    (void)waiting.engine.cancel(waiting.reserve("count", "0.0625").recorded.decision_id, "alice");
    (void)release(waiting.engine, request("count", "0.75"));
  }
  WaitingClinic waiting;
  std::string open;
};

std::vector<std::int64_t> seqs(const engine::Engine& engine, const engine::HistoryPage& page,
                               engine::HistoryEnd* end = nullptr) {
  std::vector<std::int64_t> found;
  const auto visited = engine.history(page, [&](const engine::Answer& answer) {
    found.push_back(answer.recorded.seq);
    return true;
  });
  if (end != nullptr) *end = visited;
  return found;
}

}  // namespace

TEST_CASE("reading: history, pending, show and budget scan no table that grows with decisions",
          "[engine][history]") {
  Lived lived;
  const std::string path = lived.waiting.clinic.ledger();
  std::vector<std::string> ids;
  const auto count = [&](const engine::Answer& answer) {
    ids.push_back(answer.recorded.decision_id);
    return true;
  };
  const std::set<std::string> statements = statements_of([&] {
    const engine::Engine engine = engine::Engine::open(path, lived.waiting.clock.options());
    for (const char* dataset : {"", "clinic"}) {
      engine.history(dataset, 0, count);
      (void)engine.history({.dataset = dataset, .after = "2", .limit = 2}, count);
      for (const char* asker : {"", "alice"}) {
        (void)engine.history({.dataset = dataset, .after = "2", .limit = 2, .asker = asker}, count);
        (void)engine.history({.dataset = dataset, .newest_first = true, .limit = 2, .asker = asker}, count);
        (void)engine.history(
            {.dataset = dataset, .newest_first = true, .after = "b4", .limit = 2, .asker = asker}, count);
      }
      engine.pending(dataset, count);
      (void)engine.budget(dataset);
    }
    for (const std::string& id : ids) (void)engine.show(id, {});
    CHECK(engine.newest_seq() == 10);
  });
  CHECK(ids.size() > 20);
  CHECK(statements.size() > 10);  // the hook is there
  for (const std::string& scan : scans(path, statements)) FAIL_CHECK(scan);
  CHECK(scans(path, {"SELECT id FROM decision ORDER BY principal"}).size() == 2);  // and would be named
}

TEST_CASE("reading: the last decisions are found by stepping over them alone", "[engine][history]") {
  Lived lived;
  const std::string path = lived.waiting.clinic.ledger();
  const std::set<std::string> statements = statements_of([&] {
    const engine::Engine engine = engine::Engine::open(path, lived.waiting.clock.options());
    engine.history("", 3, [](const engine::Answer&) {});
    engine.history("clinic", 3, [](const engine::Answer&) {});
  });
  // Backwards by seq, and ended by its LIMIT.
  const std::vector<std::string> found = scans(path, statements);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("ORDER BY seq DESC LIMIT 1 OFFSET ?1") != std::string::npos);
}

TEST_CASE("reading: pages make up the history, whatever is recorded meanwhile", "[engine][history]") {
  Lived lived;
  engine::Engine& engine = lived.waiting.engine;
  std::vector<std::int64_t> all;
  engine.history("", 0, [&](const engine::Answer& answer) { all.push_back(answer.recorded.seq); });
  for (const std::int64_t limit : {1, 2, 3, 100}) {
    CAPTURE(limit);
    std::vector<std::int64_t> paged;
    engine::HistoryPage page{.dataset = "clinic", .limit = limit};
    for (bool more = true; more;) {
      engine::HistoryEnd end;
      const std::vector<std::int64_t> found = seqs(engine, page, &end);
      CHECK(found.size() <= static_cast<std::size_t>(limit));
      paged.insert(paged.end(), found.begin(), found.end());
      page.after = end.cursor;
      more = end.more;
    }
    CHECK(paged == all);
    CHECK(seqs(engine, page).empty());
    CHECK(release(engine, request("count", "0.015625")).recorded.granted);
    all.push_back(all.back() + 1);
    CHECK(seqs(engine, page) == std::vector{all.back()});
  }
}

TEST_CASE("reading: a page ends behind what it cannot read", "[engine][history][negative]") {
  Lived lived;
  const std::string path = lived.waiting.clinic.ledger();
  tamper(path, "UPDATE decision SET reservation = 7 WHERE seq IN (1, 2)");
  int unreadable = 0;
  engine::EngineOptions options = lived.waiting.clock.options();
  options.unreadable = [&](const engine::UnreadableDecision&) { ++unreadable; };
  const engine::Engine engine = engine::Engine::open(path, options);
  engine::HistoryEnd end;
  CHECK(seqs(engine, {.limit = 2}, &end).empty());
  CHECK(unreadable == 2);
  CHECK(end.more);
  CHECK(seqs(engine, {.after = end.cursor, .limit = 2}) == std::vector<std::int64_t>{3, 4});
}

TEST_CASE("reading: what is no page is refused", "[engine][history][negative]") {
  Lived lived;
  const auto refused = [&](const engine::HistoryPage& page) {
    CHECK_THROWS_AS(seqs(lived.waiting.engine, page), InvalidParameter);
  };
  for (const std::int64_t limit : {0, -1}) refused({.limit = limit});
  for (const char* cursor : {" 1", "1 ", "+1", "-1", "01", "1.0", "x", "9223372036854775808", "k0"}) {
    refused({.after = cursor});
  }
  CHECK_THROWS_AS(seqs(lived.waiting.engine, {.dataset = "clinik"}), NotFound);
}

namespace {

/// alice, bob and carol ask; carol and dave agree, eve does not; what was agreed to is committed by carol,
/// cancelled by alice, given a token, and left to its deadline.
struct Many {
  Many() : waiting("{required: 1, by: {principals: [dave], roles: [custodian]}, above: {epsilon: 0.5}}") {
    engine::Engine& engine = waiting.engine;
    const auto asked = [&](const std::string& who, const std::string& epsilon,
                           engine::ReservationKind reservation = engine::ReservationKind::none) {
      engine::Request request = test::request("count", epsilon);
      if (reservation == engine::ReservationKind::reserved_against_token) {
        request = test::request("value:score", epsilon);
      }
      request.principal = who;
      request.reservation = reservation;
      if (reservation != engine::ReservationKind::none)
        return engine.reserve(request, {}).recorded.decision_id;
      return release(engine, request).recorded.decision_id;
    };
    (void)asked("alice", "0.0625");
    (void)asked("bob", "0.0625");
    const std::string agreed = asked("alice", "0.75");
    (void)engine.approve(agreed, "dave");
    (void)waiting.commit(agreed);
    (void)engine.reject(asked("bob", "0.75"), "carol", "no");
    (void)asked("carol", "0.0625");
    const std::string hers = asked("carol", "0.75");
    (void)engine.approve(hers, "dave");
    (void)engine.cancel(hers, "carol");
    (void)engine.issue_token(asked("bob", "0.125", engine::ReservationKind::reserved_against_token), "bob");
    (void)asked("alice", "0.125", engine::ReservationKind::reserved);
    waiting.clock.pass_seconds(4 * 3600);
    (void)asked("alice", "2.5");
    (void)asked("alice", "0.0625");
  }
  /// The seqs that a page has to find, oldest first, by what the whole history says.
  [[nodiscard]] std::vector<std::int64_t> of(const std::string& asker) const {
    std::map<std::string, std::string> asked;  // by decision
    std::vector<std::int64_t> found;
    waiting.engine.history("", 0, [&](const engine::Answer& answer) {
      const auto& recorded = answer.recorded;
      asked[recorded.decision_id] =
          recorded.parent.empty() ? answer.asked.principal : asked.at(recorded.parent);
      CHECK(answer.asked.asker == asked[recorded.decision_id]);
      if (asker.empty() || asked[recorded.decision_id] == asker) found.push_back(recorded.seq);
    });
    return found;
  }
  WaitingClinic waiting;
};

}  // namespace

TEST_CASE("reading: pages of either order, and of who asked, make up what there is of it",
          "[engine][history]") {
  const Many many;
  const engine::Engine& engine = many.waiting.engine;
  CHECK(many.of("").size() > 15);
  for (const char* asker : {"", "alice", "bob", "carol", "dave", "nobody"}) {
    const std::vector<std::int64_t> wanted = many.of(asker);
    CHECK(wanted.empty() == (std::string(asker) == "dave" || std::string(asker) == "nobody"));
    for (const char* dataset : {"", "clinic"}) {
      for (const std::int64_t limit : {1, 2, 3, 1000}) {
        CAPTURE(asker, dataset, limit);
        std::vector<std::int64_t> forwards, backwards;
        engine::HistoryPage page{.dataset = dataset, .limit = limit, .asker = asker};
        engine::HistoryPage back{.dataset = dataset, .newest_first = true, .limit = limit, .asker = asker};
        const auto keep = [](std::vector<std::int64_t>& into) {
          return [&into](const engine::Answer& answer) {
            into.push_back(answer.recorded.seq);
            return true;
          };
        };
        for (bool more = true; more;) {
          const auto before = forwards.size();
          const engine::HistoryEnd end = engine.history(page, keep(forwards));
          CHECK(forwards.size() <= before + static_cast<std::size_t>(limit));
          page.after = end.cursor;
          more = end.more;
        }
        for (bool more = true; more;) {
          const auto before = backwards.size();
          const engine::HistoryEnd end = engine.history(back, keep(backwards));
          CHECK(backwards.size() <= before + static_cast<std::size_t>(limit));
          back.after = end.cursor;
          more = end.more;
        }
        std::reverse(backwards.begin(), backwards.end());
        CHECK(forwards == wanted);
        CHECK(backwards == wanted);
        CHECK_FALSE(engine.history(back, keep(backwards)).more);  // what was at its end stays there
        CHECK(backwards == wanted);
      }
    }
  }
}

TEST_CASE("reading: what is recorded after the newest page is in none of those before it",
          "[engine][history]") {
  Lived lived;
  engine::Engine& engine = lived.waiting.engine;
  std::vector<std::int64_t> found;
  const auto keep = [&](const engine::Answer& answer) {
    found.push_back(answer.recorded.seq);
    return true;
  };
  engine::HistoryEnd end = engine.history({.newest_first = true, .limit = 4}, keep);
  CHECK(end.more);
  CHECK(release(engine, request("count", "0.015625")).recorded.granted);
  for (; end.more;) end = engine.history({.newest_first = true, .after = end.cursor, .limit = 4}, keep);
  CHECK(found == std::vector<std::int64_t>{10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(engine.newest_seq() == 11);
  found.clear();
  CHECK_FALSE(engine.history({.newest_first = true, .after = end.cursor}, keep).more);
  CHECK(found.empty());
  CHECK(engine.history({.newest_first = true, .limit = 1}, keep).more);
  CHECK(found == std::vector<std::int64_t>{11});
}

TEST_CASE("reading: nothing recorded is a page that ends, in either order", "[engine][history]") {
  auto [clinic, engine] = Open<Clinic>();
  CHECK(engine.newest_seq() == 0);
  const auto none = [](const engine::Answer&) {
    FAIL_CHECK("a decision");
    return true;
  };
  for (const char* asker : {"", "alice"}) {
    CHECK_FALSE(engine.history({.newest_first = true, .asker = asker}, none).more);
    CHECK_FALSE(engine.history({.asker = asker}, none).more);
  }
}

TEST_CASE("reading: what is no page of the newest is refused", "[engine][history][negative]") {
  const Lived lived;
  const engine::Engine& engine = lived.waiting.engine;
  const auto none = [](const engine::Answer&) { return true; };
  for (const std::int64_t limit : {0, -1, 1001}) {
    CHECK_THROWS_AS(engine.history({.newest_first = true, .limit = limit}, none), InvalidParameter);
  }
  for (const char* cursor :
       {"3", "b", "b0", "b03", "b-1", " b3", "b3 ", "B3", "b9223372036854775808", "c3"}) {
    CHECK_THROWS_AS(engine.history({.newest_first = true, .after = cursor}, none), InvalidParameter);
  }
  CHECK_THROWS_AS(engine.history({.after = "b3"}, none), InvalidParameter);
  CHECK_THROWS_AS(engine.history({.newest_first = true, .since = "2026-01-05T09:00:00.000Z"}, none),
                  InvalidParameter);
  CHECK_THROWS_AS(engine.history({.dataset = "clinik", .newest_first = true}, none), NotFound);
}

TEST_CASE("reading: outcomes are those of the history, and a damaged one hides none", "[engine][history]") {
  const Many many;
  const engine::Engine& engine = many.waiting.engine;
  std::vector<std::string> wanted, times;
  const std::map<std::string, std::string> words{{"cancelled", "voided"}, {"expired", "voided"}};
  engine.history("", 0, [&](const engine::Answer& answer) {
    const std::string state = text(answer.recorded.state);
    times.push_back(answer.recorded.created_at);
    wanted.push_back(std::to_string(answer.recorded.seq) + " " + times.back() + " " + answer.asked.principal +
                     " " + (words.contains(state) ? words.at(state) : state));
  });
  const auto reader = ledger::Ledger::open(many.waiting.clinic.ledger(), {});
  const auto snapshot = [&] { return reader.snapshot(); };
  const auto outcomes = [&](std::int64_t after) {
    std::vector<std::string> found;
    snapshot().each_outcome(after, [&](const ledger::DecisionOutcome& outcome) {
      found.push_back(std::to_string(outcome.seq) + " " + outcome.time + " " + outcome.principal + " " +
                      ledger::outcome_name(outcome.outcome));
    });
    return found;
  };
  CHECK(outcomes(0) == wanted);
  CHECK(outcomes(engine.newest_seq() - 2) == std::vector(wanted.end() - 2, wanted.end()));
  CHECK(outcomes(engine.newest_seq()).empty());

  for (const std::string& time : times) {
    CHECK(snapshot().decision_count_before(time) ==
          std::count_if(times.begin(), times.end(), [&](const std::string& other) { return other < time; }));
  }
  CHECK(snapshot().decision_count_before("1970-01-01T00:00:00.000Z") == 0);
  CHECK(snapshot().decision_count_before("9999-12-31T23:59:59.999Z") == engine.newest_seq());
  CHECK_THROWS_AS(snapshot().decision_count_before("yesterday"), InvalidParameter);

  tamper(many.waiting.clinic.ledger(), "UPDATE decision SET principal = 999 WHERE seq = 3");
  wanted.erase(wanted.begin() + 2);
  CHECK(outcomes(0) == wanted);
}
