// The database itself refuses, whoever asks: here SQL is written by hand, as a careless program would.
#include <map>

#include "ledger/support/fixture.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

/// A reserved, a pending and a reserved decision with a token, 1 to 3, and what one is about.
struct OpenLedger : LedgerFixture {
  OpenLedger() {
    auto writer = open();
    auto transaction = writer.begin();
    for (const auto outcome :
         {ledger::Outcome::reserved, ledger::Outcome::pending, ledger::Outcome::reserved})
      ids.push_back(record_outcome(transaction, draft_of(outcome), Epsilon::from_units(5)));
    static_cast<void>(transaction.note(draft_of(ledger::Outcome::token_issued, ids[2])));
    static_cast<void>(writer.commit(std::move(transaction)));
  }
  /// A decision inserted by hand: row 5 unless `seq` says otherwise.
  [[nodiscard]] std::string insert(const std::string& outcome, const std::string& parent,
                                   const std::string& changes = "") const {
    std::map<std::string, std::string> columns = {
        {"seq", "(SELECT max(seq) + 1 FROM decision)"},
        {"id", "'7ZZZZZZZZZZZZZZZZZZZZZZZZ' || (SELECT count(*) FROM decision)"},
        {"created_at", "created_at"},
        {"principal", "'eve'"},
        {"key", "''"},
        {"request_digest", "request_digest"},
        {"request", "request"},
        {"dataset", "dataset"},
        {"policy_version", "policy_version"},
        {"outcome", "'" + outcome + "'"},
        {"reasons", outcome == "refused" ? "'[1]'" : "'[]'"},
        {"accounts", "accounts"},
        {"parent", "'" + parent + "'"},
        {"deadline", outcome == "reserved" || outcome == "pending" ? "'9999-01-01T00:00:00.000Z'" : "''"},
        {"rules", "rules"},
        {"decided_under", "decided_under"}};
    if (const auto equals = changes.find('='); equals != std::string::npos)
      columns[changes.substr(0, equals)] = changes.substr(equals + 1);
    std::string names;
    std::string values;
    for (const auto& [column, value] : columns) {
      names += (names.empty() ? "" : ", ") + column;
      values += (values.empty() ? "" : ", ") + value;
    }
    return run_sql(path, "PRAGMA foreign_keys=ON; INSERT INTO decision(" + names + ") SELECT " + values +
                             " FROM decision WHERE seq = 1");
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

}  // namespace

TEST_CASE("schema: history can be neither changed nor deleted", "[ledger][schema]") {
  const FilledLedger fixture;
  for (const std::string table : {"decision", "charge", "release", "policy_version", "limit_change"}) {
    CAPTURE(table);
    REQUIRE(query_sql(fixture.path, "SELECT count(*) > 0 FROM " + table) == "1");
    const std::string column = query_sql(
        fixture.path, "SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid DESC LIMIT 1");
    CHECK(run_sql(fixture.path, "UPDATE " + table + " SET " + column + " = " + column) ==
          table + " is history: it cannot change");
    CHECK(run_sql(fixture.path, "DELETE FROM " + table) == table + " is history: it cannot be deleted");
    CHECK_FALSE(
        run_sql(fixture.path, kRecursive + "INSERT OR REPLACE INTO " + table + " SELECT * FROM " + table)
            .empty());
  }
}

TEST_CASE("schema: replacing a charge by a smaller one is refused", "[ledger][schema]") {
  const FilledLedger fixture;
  CHECK(run_sql(fixture.path,
                kRecursive + "INSERT OR REPLACE INTO charge SELECT decision_id, account_id, 1 FROM charge") ==
        "charge is history: it cannot be deleted");
  CHECK(query_sql(fixture.path, "SELECT amount FROM charge") == "250000000000");
}

TEST_CASE("schema: overspending by hand is refused by CHECK alone", "[ledger][schema]") {
  const FilledLedger fixture;
  for (const char* sql :
       {"UPDATE account SET spent = budget + 1", "UPDATE account SET reserved = budget - spent + 1",
        "UPDATE account SET budget = spent - 1", "UPDATE account SET reserved = -1",
        "UPDATE account SET budget = 2305843009213693953",
        "INSERT INTO account(dataset, scope, measure, budget, spent, reserved) VALUES('x', '', 'epsilon', "
        "-1, 0, 0)",
        "INSERT INTO charge SELECT id, 1, 0 FROM decision WHERE outcome = 'refused'",
        "INSERT INTO charge SELECT id, 1, 2305843009213693953 FROM decision WHERE outcome = 'refused'"}) {
    CAPTURE(sql);
    CHECK(run_sql(fixture.path, sql).find("constraint failed") != std::string::npos);
  }
  // A sum beyond int64 would silently become a REAL; STRICT is what stops it.
  CHECK(run_sql(fixture.path, "UPDATE account SET spent = spent + 9223372036854775807").find("REAL") !=
        std::string::npos);
  CHECK(run_sql(fixture.path, "UPDATE account SET spent = budget").empty());  // the edge itself is legal
}

TEST_CASE("schema: an account keeps its identity, its spend and its row", "[ledger][schema]") {
  const FilledLedger fixture;
  CHECK(run_sql(fixture.path, "UPDATE account SET spent = spent - 1") == "what is spent is never given back");
  CHECK(run_sql(fixture.path, "DELETE FROM account") == "an account cannot be deleted");
  for (const char* change : {"id = 9", "dataset = 'other'", "scope = 's'", "measure = 'delta'"}) {
    CAPTURE(change);
    CHECK(run_sql(fixture.path, std::string("UPDATE account SET ") + change) ==
          "an account keeps its identity");
  }
  CHECK(run_sql(fixture.path,
                "INSERT INTO account(dataset, scope, measure, budget, spent, reserved)"
                " VALUES('x', '', 'epsilon', 2, 1, 0)") == "a new account has spent nothing");
  CHECK(
      run_sql(fixture.path,
              kRecursive + "INSERT OR REPLACE INTO account VALUES(1, 'clinic', '', 'epsilon', 9, 0, 0, 0)") ==
      "an account cannot be deleted");
}

TEST_CASE("schema: numbers leave no gap, ids ascend, keys do not repeat", "[ledger][schema]") {
  const FilledLedger fixture;
  const auto insert = [&](const std::string& seq, const std::string& id, const std::string& key) {
    return run_sql(
        fixture.path,
        "INSERT INTO decision SELECT " + seq + ", " + id + ", created_at, principal, " + key +
            ", request_digest, request, dataset, policy_version, outcome, reasons, accounts, parent,"
            " deadline, rules, program_version, program_commit, (SELECT max(version) FROM policy_version)"
            " FROM decision WHERE seq = 2");
  };
  const std::string last = "'7ZZZZZZZZZZZZZZZZZZZZZZZZZ'";
  CHECK(insert("4", last, "''") == "decisions are numbered without gaps and their ids ascend");
  CHECK(insert("2", last, "''") == "decisions are numbered without gaps and their ids ascend");
  CHECK(insert("3", "id", "''") == "decisions are numbered without gaps and their ids ascend");
  CHECK(insert("3", "'00000000000000000000000000'", "''") ==
        "decisions are numbered without gaps and their ids ascend");
  CHECK(insert("3", last, "'k'").find("UNIQUE") != std::string::npos);
  CHECK(insert("3", last, "'other'").empty());
  CHECK(run_sql(fixture.path,
                "INSERT INTO policy_version SELECT 4, yaml, sha256, base_dir, applied_at, applied_by, 2, 9"
                " FROM policy_version WHERE version = 1") == "policy versions are numbered without gaps");
  CHECK(run_sql(fixture.path,
                "INSERT INTO limit_change SELECT 3, after_decision, policy_version, account_id,"
                " old_limit, new_limit, changed_at, by, why FROM limit_change") ==
        "limit changes are numbered without gaps");
}

TEST_CASE("schema: meta only moves forward", "[ledger][schema]") {
  const FilledLedger fixture;
  for (const char* change : {"last_time = '1999-01-01T00:00:00.000Z'", "decisions = 1", "policy_versions = 1",
                             "limit_changes = 0", "ledger_id = '00000000000000000000000000000000'"}) {
    CAPTURE(change);
    CHECK(run_sql(fixture.path, std::string("UPDATE meta SET ") + change) == "meta only moves forward");
  }
  CHECK(run_sql(fixture.path, "DELETE FROM meta") == "meta cannot be deleted");
  CHECK(run_sql(fixture.path,
                "INSERT INTO meta SELECT 2, ledger_id, created_at, last_time, 0, 1, 0, 0, 0, '', '', 0, '', "
                "0, 0, 0, 0 "
                "FROM meta")
            .find("CHECK constraint failed") == 0);
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
  for (const char* sql :
       {"INSERT INTO charge VALUES('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 1, 5)",
        "INSERT INTO charge SELECT id, 99, 5 FROM decision WHERE seq = 2",
        "INSERT INTO decision SELECT 3, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', created_at, principal, '',"
        " request_digest, request, dataset, 99, outcome, reasons, accounts, '', '', rules, '', '',"
        " (SELECT max(version) FROM policy_version) FROM decision WHERE seq = 2"}) {
    CAPTURE(sql);
    CHECK(run_sql(fixture.path, kRecursive + sql) == "FOREIGN KEY constraint failed");
  }
}

TEST_CASE("schema: looking up a key, an id, a dataset or charges reads an index, never the history",
          "[ledger][schema]") {
  const FilledLedger fixture;
  for (const std::string sql :
       {"SELECT * FROM decision WHERE principal = 'a' AND key = 'b' AND key <> ''",
        "SELECT * FROM decision WHERE id = 'a'",
        "SELECT * FROM decision WHERE dataset = 'a' AND seq >= 5 ORDER BY seq",
        "SELECT * FROM charge WHERE decision_id = 'a'", "SELECT * FROM release WHERE decision_id = 'a'",
        "SELECT * FROM account WHERE dataset = 'a' ORDER BY dataset, scope, measure",
        "SELECT * FROM account WHERE dataset = 'a' AND scope = 'b' AND measure = 'c'",
        "SELECT * FROM account WHERE id = 1",
        "SELECT * FROM decision AS d WHERE d.parent = 'a' AND d.parent <> '' ORDER BY d.seq",
        "SELECT 1 FROM decision WHERE parent = 'a' AND parent <> '' AND outcome NOT IN ('approved', "
        "'token_issued')",
        "SELECT 1 FROM decision WHERE parent = 'a' AND principal = 'b' AND outcome IN ('approved', "
        "'rejected')",
        "SELECT 1 FROM decision WHERE parent = 'a' AND outcome = 'token_issued'",
        "SELECT decision_id FROM open_decision WHERE deadline <= 'a' ORDER BY deadline, decision_id",
        "DELETE FROM open_decision WHERE decision_id = 'a'"}) {
    CAPTURE(sql);
    const std::string plan = explain_sql(fixture.path, sql);
    CAPTURE(plan);
    CHECK(plan.find("SEARCH") == 0);
    CHECK(plan.find("TEMP B-TREE") == std::string::npos);
  }
}

TEST_CASE("schema: what follows what is decided by the database too", "[ledger][schema][lifecycle]") {
  const OpenLedger fixture;
  const std::string reserved = fixture.ids[0];
  const std::string pending = fixture.ids[1];
  const std::string with_token = fixture.ids[2];
  const std::string unfit = "a decision can only be about one that it may follow";
  for (const char* outcome : {"granted", "forfeited", "token_issued"})
    CHECK(fixture.insert(outcome, pending) == unfit);
  for (const char* outcome : {"approved", "rejected", "refused", "reserved"})
    CHECK(fixture.insert(outcome, reserved) == unfit);
  CHECK(fixture.insert("voided", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ") == unfit);
  CHECK(fixture.insert("voided", reserved, "dataset='lab'") == unfit);
  CHECK(fixture.insert("voided", with_token) == "a reservation whose token was issued is not given back");
  CHECK(fixture.insert("token_issued", with_token) == "UNIQUE constraint failed: decision.parent");
  for (const char* outcome : {"approved", "rejected", "token_issued", "voided", "forfeited"})
    CHECK(fixture.insert(outcome, "").find("CHECK constraint failed") == 0);
  CHECK(fixture.insert("pending", pending) != "");
  CHECK(query_sql(fixture.path, "SELECT count(*) FROM decision") == "4");

  CHECK(fixture.insert("approved", pending).empty());
  CHECK(fixture.insert("rejected", pending) ==
        "UNIQUE constraint failed: decision.parent, decision.principal");
  CHECK(fixture.insert("rejected", pending, "principal='carol'").empty());
  CHECK(fixture.insert("approved", pending, "principal='grace'") == "what is resolved stays resolved");
  CHECK(fixture.insert("voided", reserved).empty());
  for (const char* outcome : {"granted", "forfeited", "voided", "token_issued"})
    CHECK(fixture.insert(outcome, reserved) == "what is resolved stays resolved");
}

TEST_CASE("schema: an index alone keeps a decision from being resolved twice",
          "[ledger][schema][lifecycle]") {
  const OpenLedger fixture;
  REQUIRE(run_sql(fixture.path, "DROP TRIGGER decision_of_open_parent; DROP TRIGGER decision_after_token")
              .empty());
  REQUIRE(fixture.insert("voided", fixture.ids[0]).empty());
  for (const char* outcome : {"granted", "forfeited", "voided"})
    CHECK(fixture.insert(outcome, fixture.ids[0]) == "UNIQUE constraint failed: decision.parent");
  REQUIRE(fixture.insert("reserved", fixture.ids[1]).empty());
  for (const char* outcome : {"rejected", "refused", "voided", "reserved"})
    CHECK(fixture.insert(outcome, fixture.ids[1]) == "UNIQUE constraint failed: decision.parent");
}

TEST_CASE("schema: reasons, parent and deadline are there exactly where they belong", "[ledger][schema]") {
  const OpenLedger fixture;
  for (const auto& [outcome, changes] :
       std::vector<std::pair<const char*, const char*>>{{"granted", "reasons='[1]'"},
                                                        {"refused", "reasons='[]'"},
                                                        {"reserved", "reasons='[1]'"},
                                                        {"pending", "reasons='[1]'"},
                                                        {"reserved", "deadline=''"},
                                                        {"pending", "deadline=''"},
                                                        {"granted", "deadline='9999-01-01T00:00:00.000Z'"},
                                                        {"refused", "deadline='9999-01-01T00:00:00.000Z'"},
                                                        {"reserved", "deadline=created_at"},
                                                        {"reserved", "deadline='1999-01-01T00:00:00.000Z'"},
                                                        {"reserved", "deadline='tomorrow'"},
                                                        {"maybe", ""}}) {
    CAPTURE(outcome, changes);
    CHECK(fixture.insert(outcome, "", changes).find("CHECK constraint failed") == 0);
  }
  CHECK(fixture.insert("reserved", "").empty());
}

TEST_CASE("schema: what is open is listed until it is resolved and cannot be unlisted before",
          "[ledger][schema][lifecycle]") {
  const OpenLedger fixture;
  const std::string& path = fixture.path;
  CHECK(query_sql(path, "SELECT count(*) FROM open_decision") == "3");
  CHECK(run_sql(path, "DELETE FROM open_decision") == "a decision stays open until it is resolved");
  CHECK(run_sql(path, "UPDATE open_decision SET deadline = deadline") ==
        "open_decision is history: it cannot change");
  const std::string closed = "only a reserved or pending decision is open";
  CHECK(run_sql(path,
                "INSERT INTO open_decision SELECT id, '9999-01-01T00:00:00.000Z' FROM decision"
                " WHERE outcome = 'token_issued'") == closed);
  CHECK(run_sql(path,
                "INSERT OR REPLACE INTO open_decision SELECT id, '9998-01-01T00:00:00.000Z' FROM decision"
                " WHERE seq = 1") == closed);
  REQUIRE(fixture.insert("voided", fixture.ids[0]).empty());
  REQUIRE(run_sql(path, "DELETE FROM open_decision WHERE decision_id = '" + fixture.ids[0] + "'").empty());
  CHECK(run_sql(path, "INSERT INTO open_decision SELECT id, deadline FROM decision WHERE seq = 1") == closed);
}

TEST_CASE("schema: no decision is made under older rules or another policy than the active one",
          "[ledger][schema]") {
  const FilledLedger fixture;
  const auto insert = [&](const std::string& rules, const std::string& under) {
    return run_sql(fixture.path,
                   "INSERT INTO decision SELECT 3, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', created_at, principal, '',"
                   " request_digest, request, dataset, policy_version, outcome, reasons, accounts, '', '', " +
                       rules + ", '', '', " + under + " FROM decision WHERE seq = 2");
  };
  const std::string active = "(SELECT max(version) FROM policy_version)";
  CHECK(insert("1", active) == "the number of the rules never falls");
  CHECK(insert("2", "1") == "what is decided is decided under the active policy");
  CHECK(insert("2", "0") == "what is decided is decided under the active policy");
  CHECK(insert("3", active).empty());
}

TEST_CASE("schema: relocations and removals of limits are history, and every event has its place",
          "[ledger][schema]") {
  const FilledLedger fixture;
  const std::string& path = fixture.path;
  const std::string time = "'2026-01-01T00:00:00.000Z'";
  CHECK(run_sql(path, "INSERT INTO clock_event VALUES(1, 0, 'backwards', " + time + ", " + time +
                          ", '', 0)") == "an event has its place in the order");
  CHECK(run_sql(path, "INSERT INTO schema_migration VALUES(2, 0, " + time + ", 0)") ==
        "an event has its place in the order");
  CHECK(
      run_sql(path,
              "INSERT INTO policy_version SELECT version + 1, yaml, sha256, base_dir, applied_at, applied_by,"
              " -1, 9 FROM policy_version ORDER BY version DESC LIMIT 1") ==
      "an event has its place in the order");
  CHECK(run_sql(path, "INSERT INTO limit_removal VALUES(2, 0, 1, 1, " + time + ", 'eve', '')") ==
        "limit removals are numbered without gaps");
  REQUIRE(run_sql(path, "INSERT INTO limit_removal VALUES(1, 0, 1, 1, " + time + ", 'eve', '')").empty());
  CHECK(run_sql(path, "INSERT INTO relocation VALUES(2, 9, 0, 'clinic', '/a', " + time + ", 'eve', '')") ==
        "relocations are numbered without gaps");
  REQUIRE(run_sql(path, "INSERT INTO relocation VALUES(1, 9, 0, 'clinic', '/a', " + time + ", 'eve', '')")
              .empty());
  for (const std::string table : {"limit_removal", "relocation"}) {
    CHECK(run_sql(path, "UPDATE " + table + " SET after_decision = 0") ==
          table + " is history: it cannot change");
    CHECK(run_sql(path, "DELETE FROM " + table) == table + " is history: it cannot be deleted");
  }
  for (const std::string count : {"accounts", "events"}) {
    CHECK(run_sql(path, "UPDATE meta SET " + count + " = 0") == "meta only moves forward");
  }
}

TEST_CASE("schema: clock events and migrations are history too", "[ledger][schema]") {
  const LedgerFixture fixture;
  const std::string& path = fixture.path;
  const std::string event = "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', ";
  CHECK(run_sql(path, "INSERT INTO clock_event VALUES(2, 0, 'forwards', " + event + "'', 2)") ==
        "clock events are numbered without gaps");
  CHECK(run_sql(path, "INSERT INTO clock_event VALUES(1, 0, 'forwards', " + event + "'eve', 2)")
            .find("CHECK") == 0);
  CHECK(
      run_sql(path, "INSERT INTO clock_event VALUES(1, 0, 'confirmed', " + event + "'', 2)").find("CHECK") ==
      0);
  CHECK(run_sql(path, "INSERT INTO clock_event VALUES(1, 0, 'sideways', " + event + "'', 2)").find("CHECK") ==
        0);
  REQUIRE(run_sql(path, "INSERT INTO clock_event VALUES(1, 0, 'confirmed', " + event + "'eve', 2)").empty());
  REQUIRE(run_sql(path, "INSERT INTO schema_migration VALUES(2, 0, '2026-01-01T00:00:00.000Z', 3)").empty());
  CHECK(run_sql(path, "INSERT INTO schema_migration VALUES(2, 0, '2026-01-01T00:00:00.000Z', 3)") ==
        "schema versions ascend");
  for (const std::string table : {"clock_event", "schema_migration"}) {
    CHECK(run_sql(path, "UPDATE " + table + " SET after_decision = 0") ==
          table + " is history: it cannot change");
    CHECK(run_sql(path, "DELETE FROM " + table) == table + " is history: it cannot be deleted");
  }
  REQUIRE(run_sql(path, "UPDATE meta SET clock_events = 1, schema_migrations = 1").empty());
  CHECK(run_sql(path, "UPDATE meta SET clock_events = 0") == "meta only moves forward");
  CHECK(run_sql(path, "UPDATE meta SET schema_migrations = 0") == "meta only moves forward");
}
