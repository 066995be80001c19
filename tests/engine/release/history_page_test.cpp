// Reading costs what it reads: every statement of the reading verbs goes by an index, and a history comes in
// pages.
#include <sqlite3.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "epsilog/accounting/errors.hpp"
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
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  std::vector<std::string> lines;
  const auto keep = [](void* kept, int columns, char** texts, char**) {
    if (columns == 4) static_cast<std::vector<std::string>*>(kept)->emplace_back(texts[3]);
    return 0;
  };
  CHECK(sqlite3_exec(database, ("EXPLAIN QUERY PLAN " + sql).c_str(), keep, &lines, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return lines;
}

/// With what statements call them.
const std::set<std::string> kGrowing = {"decision", "d", "child",         "parent", "earlier",
                                        "movement", "m", "plan",          "name",   "log",
                                        "node",     "i", "legacy_request"};

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
  const auto visited =
      engine.history(page, [&](const engine::Answer& answer) { found.push_back(answer.recorded.seq); });
  if (end != nullptr) *end = visited;
  return found;
}

}  // namespace

TEST_CASE("reading: history, pending, show and budget scan no table that grows with decisions",
          "[engine][history]") {
  Lived lived;
  const std::string path = lived.waiting.clinic.ledger();
  std::vector<std::string> ids;
  const auto count = [&](const engine::Answer& answer) { ids.push_back(answer.recorded.decision_id); };
  const std::set<std::string> statements = statements_of([&] {
    const engine::Engine engine = engine::Engine::open(path, lived.waiting.clock.options());
    for (const char* dataset : {"", "clinic"}) {
      engine.history(dataset, 0, count);
      (void)engine.history({.dataset = dataset, .after = "2", .limit = 2}, count);
      engine.pending(dataset, count);
      (void)engine.budget(dataset);
    }
    for (const std::string& id : ids) (void)engine.show(id, {});
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
  tamper(path, "UPDATE decision SET holding = 7 WHERE seq IN (1, 2)");
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
