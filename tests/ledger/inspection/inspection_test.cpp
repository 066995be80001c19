#include "epsilog/ledger/inspection.hpp"

#include <sqlite3.h>

#include "epsilog/ledger/unreadable_row.hpp"
#include "ledger/support/fixture.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using namespace epsilog::test;

namespace {

struct TamperedLedger : LedgerFixture {
  TamperedLedger() {
    auto writer = open();
    release(writer, kTenth, Rational(1));
    commit_one(writer, [&](auto& t) { t.refuse(refused()); });
    release(writer, kTenth, Rational(2));
  }
  void tamper(const std::string& sql) const { tamper_with(path, sql); }
};

}  // namespace

TEST_CASE("inspection: a sound ledger has no faults", "[ledger][inspection]") {
  const TamperedLedger fixture;
  auto snapshot = fixture.look();
  ledger::Inspection inspection(snapshot);
  CHECK(inspection.schema_differences().empty());
  CHECK(inspection.storage_faults(false).empty());
  CHECK(inspection.storage_faults(true).empty());
  CHECK(inspection.reference_faults().empty());
  CHECK(inspection.order_faults().empty());
  CHECK(inspection.completeness_faults().empty());
  const auto facts = inspection.facts();
  CHECK(facts.ledger_id == fixture.id);
  CHECK(facts.decisions.claimed == 3);
  CHECK(facts.decisions.rows == 3);
  CHECK(facts.decisions.last == 3);
  CHECK(balances_fold(snapshot));
}

TEST_CASE("inspection: a changed schema is named part by part", "[ledger][inspection]") {
  const LedgerFixture fixture;
  REQUIRE(run_sql(fixture.path,
                  "DROP TRIGGER movement_no_update; DROP TRIGGER movement_no_delete;"
                  "CREATE TRIGGER movement_no_delete BEFORE DELETE ON movement BEGIN SELECT 1; END;"
                  "CREATE TABLE extra(x)")
              .empty());
  auto snapshot = fixture.look();
  CHECK(ledger::Inspection(snapshot).schema_differences() ==
        std::vector<std::string>{"trigger movement_no_delete differs from the shipped schema",
                                 "trigger movement_no_update is missing",
                                 "table extra is not part of the shipped schema"});
}

TEST_CASE("inspection: blanks and comments make no other schema, but within quotes they are part of it",
          "[ledger][inspection]") {
  const auto differences = [](const std::string& trigger) {
    const LedgerFixture fixture;
    std::string shipped =
        query_sql(fixture.path, "SELECT sql FROM sqlite_master WHERE name = 'movement_no_update'");
    const std::size_t text = shipped.find("'");
    REQUIRE(text != std::string::npos);
    const std::size_t begin = shipped.find("BEGIN");
    REQUIRE(begin < text);
    if (trigger == "comment") shipped.replace(begin, 5, "BEGIN -- it's one\n  ");
    const std::size_t blank = shipped.find(' ', text);
    if (trigger == "literal") shipped.insert(blank + 1, "--'); SELECT ('\n");
    if (trigger == "blank") shipped.insert(blank, " ");
    REQUIRE(run_sql(fixture.path, "DROP TRIGGER movement_no_update; " + shipped).empty());
    auto snapshot = fixture.look();
    return ledger::Inspection(snapshot).schema_differences();
  };
  const std::vector<std::string> differs{"trigger movement_no_update differs from the shipped schema"};
  CHECK(differences("none").empty());
  CHECK(differences("comment").empty());
  CHECK(differences("literal") == differs);
  CHECK(differences("blank") == differs);
}

TEST_CASE("inspection: removed, orphaned and half recorded decisions are found", "[ledger][inspection]") {
  const TamperedLedger fixture;
  SECTION("a decision removed from the middle") {
    fixture.tamper("DELETE FROM decision WHERE seq = 2");
    auto snapshot = fixture.look();
    const auto faults = ledger::Inspection(snapshot).order_faults();
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].message == "decision 3 follows decision 1");
    CHECK(ledger::Inspection(snapshot).facts().decisions.rows == 2);
  }
  SECTION("a decision removed from the end with all its rows") {
    fixture.tamper("DELETE FROM movement WHERE seq = 3; DELETE FROM decision WHERE seq = 3");
    auto snapshot = fixture.look();
    const auto facts = ledger::Inspection(snapshot).facts();
    CHECK(facts.decisions.claimed == 3);
    CHECK(facts.decisions.last == 2);
    CHECK_FALSE(balances_fold(snapshot));
    auto writer = fixture.open();
    CHECK_THROWS_AS(writer.begin(), LedgerCorrupt);
  }
  SECTION("a charge without its decision") {
    fixture.tamper("DELETE FROM decision WHERE seq = 3");
    auto snapshot = fixture.look();
    CHECK(ledger::Inspection(snapshot).reference_faults() ==
          std::vector<std::string>{"movement refers to a missing row of decision"});
  }
  SECTION("a release taken away") {
    fixture.tamper("UPDATE decision SET \"values\" = '' WHERE seq = 1");
    auto snapshot = fixture.look();
    const auto faults = ledger::Inspection(snapshot).completeness_faults();
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].message == "decision 1 was granted, has charges and no release");
  }
  SECTION("a smaller charge") {
    fixture.tamper("UPDATE movement SET spent_change = 1 WHERE seq = 1");
    auto snapshot = fixture.look();
    CHECK_FALSE(balances_fold(snapshot));
  }
  SECTION("charges beyond int64 are still added exactly") {
    fixture.tamper("UPDATE movement SET spent_change = 9223372036854775807 WHERE seq <> 2");
    auto snapshot = fixture.look();
    CHECK(ledger::Inspection(snapshot).charge_totals().at(0).spent ==
          accounting::Integer("18446744073709551614"));
  }
  SECTION("ids and times out of order") {
    fixture.tamper("UPDATE decision SET time = 1 WHERE seq = 3");
    auto snapshot = fixture.look();
    const auto faults = ledger::Inspection(snapshot).order_faults();
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].message == "decision 3 is dated before the one before it");
  }
}

TEST_CASE("inspection: a row that cannot be read is named and does not hide the others",
          "[ledger][inspection]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/inspection/unreadable_rows.tsv")) {
    const std::string& sql = row.at(0);
    CAPTURE(sql);
    const TamperedLedger fresh;
    fresh.tamper(sql);
    auto snapshot = fresh.look();
    std::vector<std::int64_t> seen;
    std::vector<std::string> faults;
    snapshot.each_decision(
        "", 0, [&](const ledger::StoredDecision& decision) { seen.push_back(decision.seq); },
        [&](const ledger::MalformedRecord& fault) { faults.push_back(fault.message); });
    CHECK(seen == std::vector<std::int64_t>{2, 3});
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].find("decision 1 (") == 0);
    CHECK_THROWS_AS(snapshot.each_decision("", 0, [](const ledger::StoredDecision&) {}), LedgerCorrupt);
  }
}

TEST_CASE("inspection: a plan that cannot be read is named at each decision that has it, and hides no other",
          "[ledger][inspection]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/inspection/unreadable_plans.tsv")) {
    const std::string& change = row.at(0);
    const TamperedLedger fixture;
    CAPTURE(change);
    const std::string before =
        query_sql(fixture.path, "SELECT release || policy_version || number FROM plan");
    fixture.tamper("UPDATE plan SET " + change + " WHERE number = 1");
    CHECK(query_sql(fixture.path, "SELECT release || policy_version || number FROM plan") != before);
    auto snapshot = fixture.look();
    std::vector<std::int64_t> seen;
    std::vector<std::int64_t> malformed;
    snapshot.each_decision(
        "", 0, [&](const ledger::StoredDecision& decision) { seen.push_back(decision.seq); },
        [&](const ledger::MalformedRecord& fault) { malformed.push_back(fault.seq); });
    CHECK(seen == std::vector<std::int64_t>{2});
    CHECK(malformed == std::vector<std::int64_t>{1, 3});
  }
}

TEST_CASE("inspection: an open row that cannot be read hides no other, and a transaction goes on after it",
          "[ledger][inspection]") {
  const TamperedLedger fixture;
  std::vector<std::string> ids;
  {
    auto writer = fixture.open();
    auto transaction = writer.begin();
    for (int i = 0; i < 2; ++i) {
      ids.push_back(record_outcome(transaction, draft_of(ledger::Outcome::reserved), kTenth));
    }
    record_outcome(transaction, draft_of(ledger::Outcome::data_accessed, ids[1]), kTenth);
    static_cast<void>(writer.commit(std::move(transaction)));
  }
  fixture.tamper(
      "UPDATE decision SET reservation = 3 WHERE seq IN (4, 6); UPDATE decision SET key = 'k' WHERE seq = 4");

  auto snapshot = fixture.look();
  std::vector<std::string> seen;
  std::vector<ledger::MalformedRecord> malformed;
  const auto see = [&](const ledger::StoredDecision& decision) { seen.push_back(decision.id); };
  snapshot.each_open("clinic", see,
                     [&](const ledger::MalformedRecord& record) { malformed.push_back(record); });
  CHECK(seen == std::vector<std::string>{ids[1]});
  REQUIRE(malformed.size() == 1);
  CHECK(malformed[0].seq == 4);
  CHECK(malformed[0].id == ids[0]);
  CHECK(malformed[0].dataset == "clinic");
  CHECK_THROWS_AS(snapshot.each_open("", see), ledger::UnreadableRow);
  CHECK_THROWS_AS(snapshot.find_by_id(ids[0]), ledger::UnreadableRow);

  // Nothing was half done when a row could not be read: what is recorded afterwards is recorded.
  auto writer = fixture.open();
  auto transaction = writer.begin();
  CHECK_THROWS_AS(transaction.find_by_id(ids[0]), ledger::UnreadableRow);
  CHECK_THROWS_AS(transaction.find_by_key("ada", "k"), ledger::UnreadableRow);
  CHECK_THROWS_AS(transaction.children(ids[1]), ledger::UnreadableRow);
  CHECK(transaction.find_by_id(ids[1])->id == ids[1]);
  transaction.refuse(refused());
  CHECK(writer.commit(std::move(transaction)).size() == 1);
  // What would record something about such a row ends the transaction, as any mistake does.
  auto another = writer.begin();
  CHECK_THROWS_AS(another.resolve(draft_of(ledger::Outcome::voided, ids[0])), ledger::UnreadableRow);
  CHECK_THROWS_AS(another.now(), InvalidParameter);
}

TEST_CASE("snapshot: decisions come in order, by dataset and the last few", "[ledger]") {
  const TamperedLedger fixture;
  auto snapshot = fixture.look();
  const auto seqs = [&](const std::string& dataset, std::int64_t limit) {
    std::vector<std::int64_t> seen;
    snapshot.each_decision(dataset, limit, [&](const ledger::StoredDecision& decision) {
      CHECK(snapshot.find_by_id(decision.id)->seq == decision.seq);  // callbacks may use the snapshot
      seen.push_back(decision.seq);
    });
    return seen;
  };
  CHECK(seqs("", 0) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(seqs("clinic", 2) == std::vector<std::int64_t>{2, 3});
  CHECK(seqs("", 2) == std::vector<std::int64_t>{2, 3});
  CHECK(seqs("clinic", 99) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(seqs("lab", 0).empty());
  CHECK(seqs("lab", 5).empty());
}

TEST_CASE("snapshot: who asks for few among many is told where the look ended", "[ledger]") {
  const LedgerFixture fixture;
  auto writer = fixture.open();
  constexpr std::int64_t kOthers = ledger::kAskerWindow + 5;
  auto transaction = writer.begin();
  const auto ask = [&](const std::string& who) {
    ledger::DecisionDraft draft = refused();
    draft.principal = who;
    transaction.refuse(draft);
  };
  ask("first");
  for (std::int64_t i = 0; i < kOthers; ++i) ask("other");
  ask("last");
  static_cast<void>(writer.commit(std::move(transaction)));

  auto snapshot = fixture.look();
  const auto pages = [&](ledger::DecisionRange range) {
    std::vector<std::int64_t> told;  // what was found, and 0 for each end of a page
    for (bool more = true; more;) {
      const ledger::RangeEnd end = snapshot.each_decision(
          range, [&](const ledger::StoredDecision& decision) { told.push_back(decision.seq); });
      told.push_back(0);
      range.after = end.last;
      more = end.more;
    }
    return told;
  };
  const std::int64_t newest = kOthers + 2;
  for (const char* dataset : {"", "clinic"}) {
    CAPTURE(dataset);
    const auto of = [&](const std::string& asker, bool newest_first) {
      return pages({.dataset = dataset, .limit = 10, .newest_first = newest_first, .asker = asker});
    };
    CHECK(of("last", false) == std::vector<std::int64_t>{0, newest, 0});
    CHECK(of("last", true) == std::vector<std::int64_t>{newest, 0, 0});
    CHECK(of("first", false) == std::vector<std::int64_t>{1, 0, 0});
    CHECK(of("first", true) == std::vector<std::int64_t>{0, 1, 0});
    CHECK(of("nobody", true) == std::vector<std::int64_t>{0, 0});
  }
  for (const char* order : {"", " DESC"}) {
    CHECK_THAT(explain_sql(fixture.path,
                           "SELECT d.via FROM decision AS d WHERE d.seq > 3 AND d.seq <= 9 AND "
                           "d.dataset = (SELECT number FROM name WHERE name = 'clinic') ORDER BY "
                           "d.seq" +
                               std::string(order)),
               test::says("decision_by_dataset (dataset=? AND rowid>? AND rowid<?)"));
  }
}

TEST_CASE("snapshot: it sees the moment it was made, whatever is committed later", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto before = ledger.snapshot();
  release(ledger, kTenth, Rational(1));
  CHECK(before.decision_count() == 0);
  CHECK(before.accounts("").at(0).balance.spent == 0);
  CHECK(ledger.snapshot().decision_count() == 1);
}

namespace {

/// 1 and 2: a reservation and its post; 3 and 4: a pending one and its approval; 5: a reservation with, 6,
/// its token; 7: an open reservation; 8 and 9: one that was voided.
struct LivedLedger : LedgerFixture {
  LivedLedger() {
    using ledger::Outcome;
    auto writer = open();
    auto transaction = writer.begin();
    const std::string first = transaction.reserve(draft_of(Outcome::reserved), charge_of(kTenth));
    static_cast<void>(record_outcome(transaction, draft_of(Outcome::granted, first), kTenth));
    const std::string pending = transaction.record_without_movement(draft_of(Outcome::pending));
    static_cast<void>(transaction.record_without_movement(draft_of(Outcome::approved, pending)));
    const std::string with_token = transaction.reserve(draft_of(Outcome::reserved), charge_of(kTenth));
    static_cast<void>(transaction.record_without_movement(draft_of(Outcome::data_accessed, with_token)));
    static_cast<void>(transaction.reserve(draft_of(Outcome::reserved), charge_of(kTenth)));
    const std::string given_back = transaction.reserve(draft_of(Outcome::reserved), charge_of(kTenth));
    static_cast<void>(transaction.resolve(draft_of(Outcome::voided, given_back)));
    static_cast<void>(writer.commit(std::move(transaction)));
  }
  /// Everything that would refuse is dropped, as somebody who owns the file can.
  void tamper(const std::string& sql) const {
    tamper_with(path, sql, {"decision_resolves", "decision_votes_once", "decision_issues_one_token"});
  }
};

}  // namespace

TEST_CASE("inspection: a sound ledger with reservations has no faults, and spent and reserved apart",
          "[ledger][inspection][lifecycle]") {
  const LivedLedger fixture;
  auto snapshot = fixture.look();
  ledger::Inspection inspection(snapshot);
  CHECK(inspection.schema_differences().empty());
  CHECK(inspection.order_faults().empty());
  CHECK(inspection.completeness_faults().empty());
  CHECK(inspection.lifecycle_faults().empty());
  CHECK(inspection.clock_faults().empty());
  const auto totals = inspection.charge_totals();
  REQUIRE(totals.size() == 1);
  CHECK(totals[0].charges == 5);
  CHECK(totals[0].spent == accounting::Integer(kTenth.units()));
  CHECK(totals[0].reserved == accounting::Integer(2 * kTenth.units()));
  CHECK(balances_fold(snapshot));
}

TEST_CASE("inspection: the checks that the format's description gives find nothing wrong, and find a forgery",
          "[ledger][inspection][lifecycle]") {
  const std::string document = read_file(EPSILOG_LEDGER_FORMAT);
  const auto begin = document.find("```sql\n") + 7;
  const std::string checks = document.substr(begin, document.find("```", begin) - begin);
  const auto rows = [&](const LedgerFixture& fixture) {
    std::string printed;
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open_v2(fixture.path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    const auto append = [](void* kept, int columns, char** texts, char**) {
      for (int i = 0; i < columns; ++i) static_cast<std::string*>(kept)->append(texts[i]).append(" ");
      static_cast<std::string*>(kept)->append("| ");
      return 0;
    };
    const int rc = sqlite3_exec(db, checks.c_str(), append, &printed, nullptr);
    CAPTURE(sqlite3_errmsg(db));
    CHECK(rc == SQLITE_OK);
    sqlite3_close(db);
    return printed;
  };
  const LivedLedger sound;
  const std::string lines = query_sql(sound.path, "SELECT log_size FROM meta");
  const std::string expected = "9 9 9 | " + lines + " " + lines + " " + lines + " | ok | ";
  CHECK(rows(sound) == expected);
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/inspection/forgeries.tsv")) {
    const std::string& forgery = row.at(0);
    CAPTURE(forgery);
    const LivedLedger forged;
    forged.tamper(forgery);
    CHECK(rows(forged) != expected);
  }
}

TEST_CASE("inspection: every way in which lives of decisions cannot be is named",
          "[ledger][inspection][lifecycle]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/inspection/impossible_lives.tsv")) {
    const std::string& sql = row.at(0);
    const std::string& fault = row.at(1);
    CAPTURE(sql);
    const LivedLedger fixture;
    fixture.tamper(sql);
    auto snapshot = fixture.look();
    std::vector<std::string> found;
    for (const auto& entry : ledger::Inspection(snapshot).lifecycle_faults()) found.push_back(entry.message);
    CAPTURE(found);
    CHECK(std::find(found.begin(), found.end(), fault) != found.end());
  }
}

TEST_CASE("inspection: a reservation without charges, or with a release, is named",
          "[ledger][inspection][lifecycle]") {
  const LivedLedger fixture;
  fixture.tamper(
      "DELETE FROM movement WHERE seq = 7; UPDATE decision SET plan = (SELECT plan FROM decision WHERE seq = "
      "2),"
      " \"values\" = '[\"1\"]' WHERE seq = 5; UPDATE decision SET \"values\" = '' WHERE seq = 2");
  auto snapshot = fixture.look();
  std::vector<std::string> found;
  for (const auto& entry : ledger::Inspection(snapshot).completeness_faults()) found.push_back(entry.message);
  CHECK(found == std::vector<std::string>{"decision 2 was granted, has charges and no release",
                                          "decision 5 was reserved, has charges and a release",
                                          "decision 7 was reserved, has no charge and no release"});
  CHECK_FALSE(balances_fold(snapshot));
}

TEST_CASE("inspection: a reservation given back by hand does not fold", "[ledger][inspection][lifecycle]") {
  const LivedLedger fixture;
  fixture.tamper("UPDATE account SET reserved = 0");
  auto snapshot = fixture.look();
  ledger::Inspection inspection(snapshot);
  CHECK(inspection.charge_totals().at(0).reserved > 0);
  std::vector<std::string> codes;
  inspection.each_account([](const ledger::AccountState&) {},
                          [&](const ledger::StoredFault& fault) { codes.push_back(fault.code); });
  CHECK(codes == std::vector<std::string>{"checksum_differs"});
}

TEST_CASE("inspection: the order of events is held against gaps, their own numbers, decisions and times",
          "[ledger][inspection][order]") {
  // Policy 1, decisions 1 to 3, policy 2, a jump of the clock noticed after decision 3.
  constexpr const char* kMore =
      "INSERT INTO policy_version SELECT 2, yaml, implies, sha256, base_dir, (SELECT last_time FROM meta),"
      " applied_by, why, 3, 2 FROM policy_version; INSERT INTO clock_event VALUES(1, 3, 'forwards', (SELECT "
      "last_time FROM"
      " meta), (SELECT last_time FROM meta), '', 3); UPDATE meta SET events = 3, policy_versions = 2,"
      " clock_events = 1;";
  for (const CaseRow& row :
       case_table(EPSILOG_SOURCE_DIR "/tests/ledger/inspection/events_out_of_order.tsv")) {
    const TamperedLedger fixture;
    fixture.tamper(kMore);
    {
      auto snapshot = fixture.look();
      CHECK(ledger::Inspection(snapshot).order_faults().empty());
    }
    fixture.tamper(row.at(0));
    auto snapshot = fixture.look();
    ledger::Inspection inspection(snapshot);
    const auto faults = inspection.event_faults();
    const bool named = std::any_of(faults.begin(), faults.end(),
                                   [&](const auto& fault) { return fault.message == row.at(1); });
    INFO(row.at(0));
    for (const auto& fault : faults) UNSCOPED_INFO(fault.message);
    CHECK(named);
    CHECK(inspection.order_faults().size() >= faults.size());
  }
}

TEST_CASE("inspection: clock events removed, out of order, or not what the calendar says are named",
          "[ledger][inspection][clock]") {
  const LivedLedger fixture;
  fixture.tamper(
      "INSERT INTO clock_event VALUES(1, 7, 'forwards', 1767312000000, 1769904000000, '', 2);"
      "INSERT INTO clock_event VALUES(2, 6, 'backwards', 1767225600000, 1738368000000, '', 3);"
      "INSERT INTO clock_event VALUES(4, 7, 'backwards', 1767225600000, 1738368000000, '', 3);"
      "UPDATE meta SET clock_events = 4");
  auto snapshot = fixture.look();
  ledger::Inspection inspection(snapshot);
  const auto faults = inspection.order_faults();
  REQUIRE(faults.size() >= 2);
  CHECK(faults[0].message == "clock event 2 stands before the one before it");
  CHECK(faults[1].message == "clock event 4 follows clock event 2");
  CHECK(inspection.clock_faults() ==
        std::vector<std::string>{
            "the calendar is not held, by the clock events it is held at 2026-01-02T00:00:00.000Z"});
  CHECK(inspection.facts().clock_events.claimed == 4);
  CHECK(inspection.facts().clock_events.rows == 3);
}

TEST_CASE("inspection: decisions written by hand out of their order, or under another policy, are named",
          "[ledger][inspection]") {
  const auto faults = [](const std::vector<std::pair<std::string, std::string>>& columns) {
    const TamperedLedger fixture;
    REQUIRE(insert_row(fixture.path, "decision",
                       {{"seq", "4"}, {"id", "x'ffffffffffffffffffffffffffffffff'"}}, columns, "seq = 2")
                .empty());
    auto snapshot = fixture.look();
    ledger::Inspection inspection(snapshot);
    std::vector<std::string> found;
    for (const auto& fault : inspection.order_faults()) found.push_back(fault.message);
    inspection.each_decision([](const ledger::StoredDecision&) {},
                             [&](const ledger::MalformedRecord& fault) { found.push_back(fault.message); },
                             [&](const ledger::StoredFault& fault) { found.push_back(fault.code); });
    return found;
  };
  const auto named = [](const std::vector<std::string>& found, const std::string& wanted) {
    return std::find(found.begin(), found.end(), wanted) != found.end();
  };
  CHECK(named(faults({{"seq", "5"}}), "decision 5 follows decision 3"));
  CHECK(named(faults({{"id", "x'00000000000000000000000000000000'"}}),
              "decision 4 has an id below that of the one before it"));
  CHECK(named(faults({{"decided_under", "2"}}), "policy_order"));
  CHECK(named(faults({{"rules", "2"}}),
              "decision 4 (7ZZZZZZZZZZZZZZZZZZZZZZZZZ): column rules is 2; this program knows 1 alone"));
  CHECK_FALSE(named(faults({}), "policy_order"));
}
