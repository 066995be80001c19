#include "epsilog/ledger/inspection.hpp"

#include "epsilog/accounting/errors.hpp"
#include "ledger/support/fixture.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

const Epsilon kTenth = Epsilon::parse_down("0.1");

struct TamperedLedger : LedgerFixture {
  TamperedLedger() {
    auto writer = open();
    release(writer, kTenth, Rational(1));
    auto transaction = writer.begin();
    transaction.refuse(refused());
    static_cast<void>(writer.commit(std::move(transaction)));
    release(writer, kTenth, Rational(2));
  }
  void tamper(const std::string& sql) const {
    std::string drop;
    for (const char* trigger :
         {"decision_in_order", "decision_no_update", "decision_no_delete", "charge_no_update",
          "charge_no_delete", "release_no_update", "release_no_delete"}) {
      drop += std::string("DROP TRIGGER ") + trigger + ";";
    }
    REQUIRE(run_sql(path, drop + "PRAGMA ignore_check_constraints=ON;" + sql).empty());
  }
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
                  "DROP TRIGGER charge_no_update; DROP TRIGGER meta_no_delete;"
                  "CREATE TRIGGER meta_no_delete BEFORE DELETE ON meta BEGIN SELECT 1; END;"
                  "CREATE TABLE extra(x)")
              .empty());
  auto snapshot = fixture.look();
  CHECK(ledger::Inspection(snapshot).schema_differences() ==
        std::vector<std::string>{"trigger charge_no_update is missing",
                                 "trigger meta_no_delete differs from the shipped schema",
                                 "table extra is not part of the shipped schema"});
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
    fixture.tamper(
        "DELETE FROM charge WHERE decision_id = (SELECT id FROM decision WHERE seq = 3);"
        "DELETE FROM release WHERE decision_id = (SELECT id FROM decision WHERE seq = 3);"
        "DELETE FROM decision WHERE seq = 3");
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
    CHECK(ledger::Inspection(snapshot).reference_faults().size() == 2);
  }
  SECTION("a release taken away") {
    fixture.tamper("DELETE FROM release WHERE decision_id = (SELECT id FROM decision WHERE seq = 1)");
    auto snapshot = fixture.look();
    const auto faults = ledger::Inspection(snapshot).completeness_faults();
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].message == "decision 1 was granted, has charges and no release");
  }
  SECTION("a smaller charge") {
    fixture.tamper(
        "UPDATE charge SET amount = 1 WHERE decision_id = (SELECT id FROM decision WHERE seq = 1)");
    auto snapshot = fixture.look();
    CHECK_FALSE(balances_fold(snapshot));
  }
  SECTION("charges beyond int64 are still added exactly") {
    fixture.tamper("UPDATE charge SET amount = 9223372036854775807");
    auto snapshot = fixture.look();
    CHECK(ledger::Inspection(snapshot).charge_totals().at(0).spent ==
          accounting::Integer("18446744073709551614"));
  }
  SECTION("ids and times out of order") {
    fixture.tamper("UPDATE decision SET created_at = '1999-01-01T00:00:00.000Z' WHERE seq = 3");
    auto snapshot = fixture.look();
    const auto faults = ledger::Inspection(snapshot).order_faults();
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].message == "decision 3 is dated before the one before it");
  }
}

TEST_CASE("inspection: a row that cannot be read is named and does not hide the others",
          "[ledger][inspection]") {
  for (const char* sql :
       {"UPDATE release SET value = '[1]' WHERE decision_id = (SELECT id FROM decision WHERE seq = 1)",
        "UPDATE release SET value = '[\"x\"]' WHERE decision_id = (SELECT id FROM decision WHERE seq = 1)",
        "UPDATE release SET components = '{' WHERE decision_id = (SELECT id FROM decision WHERE seq = 1)",
        "UPDATE release SET components = '[{}]' WHERE decision_id = (SELECT id FROM decision WHERE seq = 1)",
        "UPDATE release SET cells = '5' WHERE decision_id = (SELECT id FROM decision WHERE seq = 1)",
        "UPDATE release SET post_processing = '{\"kind\":\"x\"}' WHERE decision_id = (SELECT id FROM "
        "decision WHERE seq = 1)",
        "UPDATE decision SET accounts = '[{\"id\":1.5}]' WHERE seq = 1",
        "UPDATE decision SET outcome = 'maybe' WHERE seq = 1"}) {
    const TamperedLedger fresh;
    CAPTURE(sql);
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

TEST_CASE("snapshot: decisions come in order, by dataset and the last few", "[ledger]") {
  const TamperedLedger fixture;
  auto snapshot = fixture.look();
  const auto seqs = [&](const std::string& dataset, std::int64_t limit) {
    std::vector<std::int64_t> seen;
    snapshot.each_decision(dataset, limit, [&](const ledger::StoredDecision& decision) {
      CHECK(snapshot.find_id(decision.id)->seq == decision.seq);  // callbacks may use the snapshot
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

TEST_CASE("snapshot: it sees the moment it was made, whatever is committed later", "[ledger]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto before = ledger.snapshot();
  release(ledger, kTenth, Rational(1));
  CHECK(before.decisions() == 0);
  CHECK(before.accounts("").at(0).balance.spent == 0);
  CHECK(ledger.snapshot().decisions() == 1);
}
