// The database itself refuses, whoever asks: here SQL is written by hand, as a careless program would.
#include "decision_rows.hpp"
#include "ledger/support/fixture.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using namespace epsilog::test;

namespace {

/// A reserved, a pending and a reserved decision with a token, 1 to 3, and what one is about.
struct LedgerRegistration : LedgerFixture {
  LedgerRegistration() {
    auto writer = open();
    auto transaction = writer.begin();
    for (const auto outcome :
         {ledger::Outcome::reserved, ledger::Outcome::pending, ledger::Outcome::reserved})
      ids.push_back(record_outcome(transaction, draft_of(outcome), Epsilon::from_units(5)));
    static_cast<void>(transaction.record_without_movement(draft_of(ledger::Outcome::data_accessed, ids[2])));
    static_cast<void>(writer.commit(std::move(transaction)));
  }
  /// A decision about another one inserted by hand: row 5 unless `changes` says otherwise.
  [[nodiscard]] std::string insert(
      ledger::Outcome outcome, int parent,
      const std::vector<std::pair<std::string, std::string>>& changes = {}) const {
    const bool opens = outcome == ledger::Outcome::reserved || outcome == ledger::Outcome::pending;
    return insert_row(path, "decision",
                      {{"seq", "(SELECT max(seq) + 1 FROM decision)"},
                       {"id", "randomblob(16)"},
                       {"principal", "99"},
                       {"outcome", std::to_string(ledger::outcome_number(outcome))},
                       {"reasons", outcome == ledger::Outcome::refused ? "'[1]'" : "''"},
                       {"parent", std::to_string(parent)},
                       {"deadline", opens ? "253370764800000" : "0"},
                       {"\"values\"", outcome == ledger::Outcome::granted ? "'[\"1\"]'" : "''"}},
                      changes);
  }
  std::vector<std::string> ids;
};

/// One release, one refusal, one changed limit.
struct FilledLedger : LedgerFixture {
  FilledLedger() {
    auto writer = open();
    release(writer, Epsilon::parse_down("0.25"), Rational(12), "k");
    auto transaction = writer.begin();
    transaction.refuse(refused());
    transaction.apply_policy(policy("version: 1 # 2\n"),
                             {account("clinic", "epsilon", Epsilon::parse_down("2").units())}, "why");
    static_cast<void>(writer.commit(std::move(transaction)));
  }
};

const std::string kRecursive = "PRAGMA recursive_triggers=ON; PRAGMA foreign_keys=ON; ";
constexpr auto kCheckFailed = "CHECK constraint failed";

}  // namespace

TEST_CASE("schema: history can be neither changed nor deleted", "[ledger][schema]") {
  const FilledLedger fixture;
  for (const std::string table : {"decision", "movement", "plan", "policy_version", "log"}) {
    CAPTURE(table);
    REQUIRE(query_sql(fixture.path, "SELECT count(*) > 0 FROM " + table) == "1");
    const std::string column = query_sql(
        fixture.path, "SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid DESC LIMIT 1");
    CHECK(run_sql(fixture.path, "UPDATE " + table + " SET \"" + column + "\" = \"" + column + "\"") ==
          table + " is history: it cannot change");
  }
  for (const std::string table : {"decision", "movement", "log"}) {
    CAPTURE(table);
    const std::string refusal = table + " is history: it cannot be deleted";
    CHECK(run_sql(fixture.path, "DELETE FROM " + table) == refusal);
    CHECK(run_sql(fixture.path, kRecursive + "INSERT OR REPLACE INTO " + table + " SELECT * FROM " + table) ==
          refusal);
  }
  // What refers to it keeps it there.
  CHECK(run_sql(fixture.path, kRecursive + "DELETE FROM policy_version") == "FOREIGN KEY constraint failed");
}

TEST_CASE("schema: replacing a movement by a smaller one is refused", "[ledger][schema]") {
  const FilledLedger fixture;
  CHECK(run_sql(fixture.path, kRecursive + "INSERT OR REPLACE INTO movement SELECT seq, account, position, 1,"
                                           " reserved_change, spent, reserved, \"limit\" FROM movement") ==
        "movement is history: it cannot be deleted");
  CHECK(query_sql(fixture.path, "SELECT spent_change FROM movement") == "250000000000");
}

TEST_CASE("schema: overspending by hand is refused by CHECK alone", "[ledger][schema]") {
  const FilledLedger fixture;
  const auto movement = [](const std::string& values) {
    return "INSERT INTO movement SELECT seq, 1, " + values + " FROM decision WHERE outcome = 2";
  };
  for (const std::string& sql :
       {std::string("UPDATE account SET spent = \"limit\" + 1"),
        std::string("UPDATE account SET reserved = \"limit\" - spent + 1"),
        std::string("UPDATE account SET \"limit\" = spent - 1"),
        std::string("UPDATE account SET reserved = -1"),
        std::string("UPDATE account SET \"limit\" = 2305843009213693953"),
        std::string("INSERT INTO account(id, dataset, scope, measure, \"limit\", spent, reserved, checksum,"
                    " opened_at) VALUES(2, 'x', '', 'epsilon', -1, 0, 0, 0, 1)"),
        movement("0, -1, 0, 0, 0, 0"), movement("0, 2305843009213693953, 0, 0, 0, 0"),
        movement("0, 0, 2305843009213693953, 0, 0, 0"), movement("0, 0, -2305843009213693953, 0, 0, 0"),
        movement("-1, 0, 0, 0, 0, 0"), movement("0, 0, 0, -1, 0, 0"), movement("0, 0, 0, 0, -1, 0"),
        movement("0, 0, 0, 0, 0, 2305843009213693953")}) {
    CAPTURE(sql);
    CHECK(has_part(run_sql(fixture.path, sql), kCheckFailed));
  }
  // A sum beyond int64 would silently become a REAL; STRICT is what stops it.
  CHECK(has_part(run_sql(fixture.path, "UPDATE account SET spent = spent + 9223372036854775807"), "REAL"));
  CHECK(run_sql(fixture.path, "UPDATE account SET spent = \"limit\"").empty());  // the edge itself is legal
}

TEST_CASE("schema: an account keeps its identity, its spend and its row", "[ledger][schema]") {
  const FilledLedger fixture;
  CHECK(run_sql(fixture.path, "UPDATE account SET spent = spent - 1") == "what is spent is never given back");
  for (const char* change :
       {"id = 9", "dataset = 'other'", "scope = 's'", "measure = 'delta'", "opened_at = 1"}) {
    CAPTURE(change);
    CHECK(run_sql(fixture.path, std::string("UPDATE account SET ") + change) ==
          "an account keeps its identity");
  }
  CHECK(run_sql(fixture.path, kRecursive + "DELETE FROM account") == "FOREIGN KEY constraint failed");
  CHECK(has_part(run_sql(fixture.path,
                         "INSERT INTO account SELECT 2, dataset, scope, measure, \"limit\", 0, 0,"
                         " checksum, opened_at FROM account"),
                 "UNIQUE constraint failed"));
}

TEST_CASE("schema: numbers, ids and keys do not repeat", "[ledger][schema]") {
  const FilledLedger fixture;
  const auto insert = [&](const std::string& seq, const std::string& id, const std::string& key) {
    return insert_row(fixture.path, "decision", {{"seq", seq}, {"id", id}, {"key", key}}, {}, "seq = 2");
  };
  CHECK(insert("2", "randomblob(16)", "''") == "UNIQUE constraint failed: decision.seq");
  CHECK(insert("3", "id", "''") == "UNIQUE constraint failed: decision.id");
  CHECK(insert("3", "randomblob(16)", "'k'") == "UNIQUE constraint failed: decision.principal, decision.key");
  CHECK(has_part(insert("3", "randomblob(15)", "''"), kCheckFailed));
  CHECK(insert("3", "randomblob(16)", "'other'").empty());
  CHECK(has_part(run_sql(fixture.path, "INSERT INTO name VALUES(9, 'ada')"), "UNIQUE constraint failed"));
  CHECK(has_part(run_sql(fixture.path, "INSERT INTO build SELECT 9, version, revision FROM build"),
                 "UNIQUE constraint failed"));
  CHECK(has_part(run_sql(fixture.path,
                         "INSERT INTO plan SELECT 9, digest, policy_version, question, release,"
                         " first_at FROM plan LIMIT 1"),
                 "UNIQUE constraint failed"));
}

TEST_CASE("schema: meta only moves forward, and is one row", "[ledger][schema]") {
  const FilledLedger fixture;
  REQUIRE(run_sql(fixture.path, "UPDATE meta SET read_only = 1").empty());
  for (const char* change :
       {"last_time = created_at - 1", "decisions = 1", "policy_versions = 1", "accounts = 0", "events = 1",
        "log_size = 1, replica_size = 0", "read_only = 0", "ledger_id = zeroblob(16)"}) {
    CAPTURE(change);
    CHECK(run_sql(fixture.path, std::string("UPDATE meta SET ") + change) == "meta only moves forward");
  }
  CHECK(has_part(run_sql(fixture.path, "UPDATE meta SET one = 2"), kCheckFailed));
  CHECK(has_part(run_sql(fixture.path, "UPDATE meta SET replica_size = log_size + 1"), kCheckFailed));
  REQUIRE(run_sql(fixture.path, "DELETE FROM meta").empty());
  CHECK_THROWS_AS(fixture.open(), LedgerCorrupt);
}

TEST_CASE("schema: no column takes a NULL or another type", "[ledger][schema]") {
  const FilledLedger fixture;
  CHECK(query_sql(fixture.path,
                  "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                  " AND name NOT LIKE 'sqlite_%' AND NOT strict") == "0");
  CHECK(query_sql(fixture.path,
                  "SELECT group_concat(t.name || '.' || c.name) FROM pragma_table_list AS t,"
                  " pragma_table_info(t.name) AS c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'"
                  " AND NOT c.\"notnull\" AND c.pk = 0") == "NULL");
  CHECK(run_sql(fixture.path, "UPDATE account SET spent = 0.5").find("cannot store REAL") !=
        std::string::npos);
}

TEST_CASE("schema: a row cannot refer to a row that is not there", "[ledger][schema]") {
  const FilledLedger fixture;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/tables/dangling_rows.tsv")) {
    const std::string& sql = row.at(0);
    CAPTURE(sql);
    CHECK(run_sql(fixture.path, kRecursive + sql) == "FOREIGN KEY constraint failed");
  }
}

TEST_CASE("schema: looking up a key, an id, a dataset or movements reads an index, never the history",
          "[ledger][schema]") {
  const FilledLedger fixture;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/tables/indexed_queries.tsv")) {
    const std::string& sql = row.at(0);
    CAPTURE(sql);
    const std::string plan = explain_sql(fixture.path, sql);
    CAPTURE(plan);
    CHECK(plan.find("SEARCH") == 0);
    CHECK(plan.find("TEMP B-TREE") == std::string::npos);
  }
}

TEST_CASE("schema: what was decided by the database alone of what follows what, it decides still",
          "[ledger][schema][lifecycle]") {
  using ledger::Outcome;
  const LedgerRegistration fixture;
  const int reserved = 1;
  const int pending = 2;
  const int with_token = 3;
  CHECK(fixture.insert(Outcome::data_accessed, with_token) == "UNIQUE constraint failed: decision.parent");
  CHECK(has_part(fixture.insert(Outcome::pending, pending), kCheckFailed));
  CHECK(has_part(fixture.insert(Outcome::voided, 5), kCheckFailed));  // about itself
  CHECK(has_part(fixture.insert(Outcome::voided, 9), kCheckFailed));
  CHECK(query_sql(fixture.path, "SELECT count(*) FROM decision") == "4");

  CHECK(fixture.insert(Outcome::approved, pending).empty());
  CHECK(fixture.insert(Outcome::rejected, pending) ==
        "UNIQUE constraint failed: decision.parent, decision.principal");
  CHECK(fixture.insert(Outcome::rejected, pending, {{"principal", "98"}}).empty());
  REQUIRE(fixture.insert(Outcome::voided, reserved).empty());
  for (const auto outcome : {Outcome::granted, Outcome::forfeited, Outcome::voided})
    CHECK(fixture.insert(outcome, reserved) == "UNIQUE constraint failed: decision.parent");
  for (const auto outcome : {Outcome::rejected, Outcome::refused, Outcome::voided, Outcome::reserved})
    CHECK(fixture.insert(outcome, pending, {{"principal", "97"}}) ==
          "UNIQUE constraint failed: decision.parent");
}

TEST_CASE("schema: reasons, values and deadline are there where a known outcome has them, and nowhere else",
          "[ledger][schema]") {
  using ledger::Outcome;
  const LedgerRegistration fixture;
  const std::map<std::string, Outcome> outcomes = {{"granted", Outcome::granted},
                                                   {"refused", Outcome::refused},
                                                   {"reserved", Outcome::reserved},
                                                   {"pending", Outcome::pending}};
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/tables/misplaced_columns.tsv")) {
    CAPTURE(row);
    CHECK(has_part(fixture.insert(outcomes.at(row.at(0)), 0, {{row.at(1), row.at(2)}}), kCheckFailed));
  }
  CHECK(fixture.insert(Outcome::reserved, 0).empty());
}

TEST_CASE("schema: events have a place, a time and whatever they are about", "[ledger][schema]") {
  const LedgerFixture fixture;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/tables/events_out_of_place.tsv")) {
    const std::string& sql = row.at(0);
    CAPTURE(sql);
    CHECK(has_part(run_sql(fixture.path, sql), kCheckFailed));
  }
}

TEST_CASE("schema: a relocation can leave its path empty, for a feature that has several files in its place",
          "[ledger][schema]") {
  const LedgerFixture fixture;
  CHECK(run_sql(fixture.path, "INSERT INTO relocation VALUES(1, 9, 0, 'clinic', '', 5, 'eve', '')").empty());
}

TEST_CASE("schema: no CHECK lists the words of a column, so that a new word needs no other file",
          "[ledger][schema]") {
  const LedgerRegistration fixture;
  CHECK(fixture.insert(ledger::Outcome::approved, 0, {{"outcome", "10"}, {"reservation", "3"}}).empty());
  CHECK(run_sql(fixture.path, "INSERT INTO clock_event VALUES(1, 0, 'sideways', 5, 5, 'eve', 2)").empty());
  CHECK(run_sql(fixture.path,
                "INSERT INTO recovery(seq, cause, restored_lines, dropped_lines, at, by, why,"
                " remembered_lines, found_lines) "
                "VALUES(1, 'sealed', 0, 0, 5, 'eve', '', 0, 0)")
            .empty());
  CHECK(run_sql(fixture.path,
                "INSERT INTO credential_event VALUES(1, 0, 'c', 'oidc', 'ada', 'x', 0, 5, 'eve', '')")
            .empty());
  CHECK(run_sql(fixture.path, "INSERT INTO log VALUES(99, 4711, 1, zeroblob(16), zeroblob(32))").empty());
}
