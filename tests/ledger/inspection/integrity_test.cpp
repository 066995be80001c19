// What a damaged page could turn into budget or into a second value is held against what says it elsewhere.
// Here each of these is damaged on purpose; tests/engine/whole/flipped_bit_test.cpp flips bits wherever they
// lie.
#include <span>

#include "account_checksum.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "ledger/support/fixture.hpp"
#include "schema_comparison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

/// A keyed release of 0.25 and two reservations of 0.125.
struct DamagedLedger : LedgerFixture {
  DamagedLedger() {
    auto writer = open();
    release(writer, Epsilon::parse_down("0.25"), Rational(12), "k");
    for (int i = 0; i < 2; ++i) {
      auto transaction = writer.begin();
      ids.push_back(
          record_outcome(transaction, draft_of(ledger::Outcome::reserved), Epsilon::parse_down("0.125")));
      static_cast<void>(writer.commit(std::move(transaction)));
    }
  }
  void change(const std::string& sql) const { tamper_with(path, sql); }
  /// An index that finds nothing any more: it has the page of one, of another table, that is empty.
  void empty_index(const std::string& name, const std::string& empty) const {
    REQUIRE(run_sql(path,
                    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM "
                    "sqlite_master WHERE name = '" +
                        empty + "') WHERE name = '" + name + "'")
                .empty());
  }
  /// A table that says otherwise than its indexes: it has the pages of a copy.
  void replace_rows(const std::string& table, const std::string& columns) const {
    const std::string create =
        query_sql(path, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'");
    REQUIRE(
        run_sql(path, "CREATE TABLE exchanged" + create.substr(create.find('(')) +
                          "; INSERT INTO exchanged SELECT " + columns + " FROM " + table +
                          "; PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = (SELECT"
                          " rootpage FROM sqlite_master WHERE name = 'exchanged') WHERE type = 'table' AND"
                          " name = '" +
                          table + "'; DELETE FROM sqlite_master WHERE tbl_name = 'exchanged'")
            .empty());
  }
  std::vector<std::string> ids;
};

}  // namespace

TEST_CASE("ledger: the checksum of an account is the one that is documented", "[ledger][integrity]") {
  ledger::AccountState documented = account("clinic", "epsilon", 1'000'000'000'000);
  documented.id = 1;
  documented.balance.spent = 250'000'000'000;
  const std::int64_t checksum = ledger::account_checksum(documented);
  const std::string page = read_file(EPSILOG_LEDGER_FORMAT);
  CHECK(page.find("0) == " + std::to_string(checksum)) != std::string::npos);
  documented.scope = "1";
  CHECK(ledger::account_checksum(documented) != checksum);
}

TEST_CASE("ledger: an account whose row has changed is read by nobody but an audit", "[ledger][integrity]") {
  const DamagedLedger fixture;
  REQUIRE(run_sql(fixture.path, "UPDATE account SET reserved = reserved - 1").empty());
  auto writer = fixture.open();
  auto transaction = writer.begin();
  CHECK_THROWS_AS(transaction.accounts("clinic"), LedgerCorrupt);
  auto snapshot = fixture.look();
  CHECK_THROWS_AS(snapshot.accounts("clinic"), LedgerCorrupt);
  std::vector<std::string> seen;
  ledger::Inspection(snapshot).each_account(
      [&](const ledger::AccountState& account) { seen.push_back(account.dataset); },
      [&](const ledger::StoredFault& fault) { seen.push_back(fault.record + " " + fault.code); });
  CHECK(seen == std::vector<std::string>{"account 1 checksum_differs", "clinic"});
}

TEST_CASE("ledger: an account that its index has lost is not opened again", "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  fixture.empty_index("sqlite_autoindex_account_1", "decision_votes_once");
  auto writer = fixture.open();
  SECTION("by a request") {
    auto transaction = writer.begin();
    CHECK_THROWS_AS(transaction.open_account(account("clinic", "epsilon", 5)), LedgerCorrupt);
  }
  SECTION("by a policy") {
    auto transaction = writer.begin();
    CHECK_THROWS_AS(
        transaction.apply_policy(policy("version: 1 # 2\n"), {account("clinic", "epsilon", 5)}, "why"),
        LedgerCorrupt);
  }
  CHECK(query_sql(fixture.path, "SELECT count(*) FROM account NOT INDEXED") == "1");
}

TEST_CASE("ledger: nothing is opened where an account is missing", "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  REQUIRE(run_sql(fixture.path, "UPDATE meta SET accounts = 2").empty());
  auto writer = fixture.open();
  auto transaction = writer.begin();
  CHECK_THROWS_AS(transaction.open_account(account("other", "epsilon", 5)), LedgerCorrupt);
}

TEST_CASE("ledger: what is undone leaves no balance behind", "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  fixture.change("INSERT INTO name VALUES(9, 'other'); UPDATE decision SET dataset = 9 WHERE seq = 2");
  auto writer = fixture.open();
  {
    auto damaged = writer.begin();
    auto draft = draft_of(ledger::Outcome::voided, fixture.ids.at(0));
    draft.dataset = "other";
    CHECK_THROWS_AS(damaged.resolve(draft), ledger::UnreadableRow);
    CHECK_FALSE(damaged.is_open());
  }
  auto transaction = writer.begin();
  CHECK(transaction.accounts(std::vector<ledger::AccountName>{{"clinic", "", "epsilon"}})
            .at(0)
            .balance.reserved == Epsilon::parse_down("0.25").units());
  transaction.resolve(draft_of(ledger::Outcome::voided, fixture.ids.at(1)));
  CHECK(writer.commit(std::move(transaction)).size() == 1);
}

TEST_CASE("ledger: a key that one index has lost is not free", "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  fixture.empty_index("decision_by_key", "account_reserved_in_period");
  auto snapshot = fixture.look();
  CHECK_THROWS_AS(snapshot.find_by_key("ada", "k"), LedgerCorrupt);
  CHECK_FALSE(snapshot.find_by_key("ada", "another").has_value());
  auto writer = fixture.open();
  auto transaction = writer.begin();
  CHECK_THROWS_AS(transaction.find_by_key("ada", "k"), LedgerCorrupt);
}

namespace {

/// A request that waited, was approved and reserved, and got a token; a keyed release; a refusal.
struct LookedUp : DamagedLedger {
  LookedUp() {
    auto writer = open();
    const auto record = [&](const ledger::DecisionDraft& draft) {
      auto transaction = writer.begin();
      static_cast<void>(record_outcome(transaction, draft, kHundredth));
      return writer.commit(std::move(transaction)).back();
    };
    pending = record(draft_of(ledger::Outcome::pending)).id;
    static_cast<void>(record(draft_of(ledger::Outcome::approved, pending)));
    reserved = record(draft_of(ledger::Outcome::reserved)).id;
    auto draft = draft_of(ledger::Outcome::data_accessed, reserved);
    draft.issues_token = true;
    token = ledger::hex_text(std::span(*record(draft).token->bytes));
    static_cast<void>(record(draft_of(ledger::Outcome::voided, pending)));
    look().each_decision("", 0, [this](const ledger::StoredDecision& one) { all.push_back(one.id); });
  }

  std::string pending;
  std::string reserved;
  std::string token;
  std::vector<std::string> all;
};

struct Lookup {
  const char* name;
  std::function<std::size_t(const LookedUp& of)> found;  ///< how many
};

std::vector<Lookup> lookups() {
  return {
      {"every id",
       [](const LookedUp& of) {
         auto view = of.look();
         return static_cast<std::size_t>(
             std::count_if(of.all.begin(), of.all.end(),
                           [&](const std::string& id) { return view.find_by_id(id).has_value(); }));
       }},
      {"every id, by a writer",
       [](const LookedUp& of) {
         auto writer = of.open();
         auto transaction = writer.begin();
         return static_cast<std::size_t>(
             std::count_if(of.all.begin(), of.all.end(),
                           [&](const std::string& id) { return transaction.find_by_id(id).has_value(); }));
       }},
      {"beginnings of ids",
       [](const LookedUp& of) {
         auto view = of.look();
         std::size_t found = 0;
         for (const std::string& id : of.all)
           found += ledger::Inspection(view).ids_with_prefix(id.substr(0, 25)).count > 0 ? 1 : 0;
         return found;
       }},
      {"a key", [](const LookedUp& of) { return std::size_t{of.look().find_by_key("ada", "k") ? 1U : 0U}; }},
      {"a token",
       [](const LookedUp& of) { return std::size_t{of.look().find_by_token(of.token) ? 1U : 0U}; }},
      {"what became of a request", [](const LookedUp& of) { return of.look().children(of.pending).size(); }},
      {"what became of a reservation",
       [](const LookedUp& of) { return of.look().children(of.reserved).size(); }},
      {"what became of a request, by a writer", [](const LookedUp& of) {
         auto writer = of.open();
         auto transaction = writer.begin();
         return transaction.children(of.pending).size();
       }}};
}

}  // namespace

TEST_CASE("ledger: a lookup behind an index that lost its rows finds them or calls the file damaged",
          "[ledger][integrity][negative][lookup]") {
  std::vector<std::size_t> expected;
  {
    const LookedUp sound;
    for (const Lookup& lookup : lookups()) expected.push_back(lookup.found(sound));
    REQUIRE(expected == std::vector<std::size_t>{8, 8, 8, 1, 1, 2, 1, 2});
  }
  int damaged = 0;
  for (const char* index : {"sqlite_autoindex_decision_1", "decision_by_key", "decision_by_key_first",
                            "decision_by_dataset", "decision_by_parent", "decision_resolves",
                            "decision_votes_once", "decision_issues_one_token", "sqlite_autoindex_name_1"}) {
    const LookedUp fixture;
    fixture.empty_index(index, "account_reserved_in_period");
    std::size_t place = 0;
    for (const Lookup& lookup : lookups()) {
      CAPTURE(index, lookup.name);
      std::size_t found = expected[place];
      try {
        found = lookup.found(fixture);
      } catch (const LedgerCorrupt&) {
        ++damaged;
      }
      CHECK(found == expected[place]);
      ++place;
    }
  }
  CHECK(damaged >= 18);
}

TEST_CASE("ledger: an id that no decision has is not found, wherever it would stand",
          "[ledger][integrity][lookup]") {
  const LookedUp fixture;
  auto view = fixture.look();
  std::vector<std::string> absent = {std::string(26, '0'), "7" + std::string(25, 'Z')};
  for (std::string id : fixture.all) {
    id.back() = id.back() == '7' ? '8' : '7';
    if (std::find(fixture.all.begin(), fixture.all.end(), id) == fixture.all.end()) absent.push_back(id);
  }
  REQUIRE(absent.size() > 4);
  for (const std::string& id : absent) {
    CAPTURE(id);
    CHECK_FALSE(view.find_by_id(id).has_value());
    CHECK(view.children(id).empty());
  }
  CHECK_FALSE(view.find_by_token(std::string(64, 'a')).has_value());
  CHECK(ledger::Inspection(view).ids_with_prefix("0000").count == 0);
  CHECK(ledger::Inspection(view).ids_with_prefix("7ZZZ").count == 0);
  const LedgerFixture empty;
  CHECK_FALSE(empty.look().find_by_id(absent.front()).has_value());
}

TEST_CASE(
    "ledger: a principal whose name one index has lost, or has otherwise, has no free key and no second name",
    "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  const auto nobody_writes_twice = [&] {
    auto snapshot = fixture.look();
    CHECK_THROWS_AS(snapshot.find_by_key("ada", "k"), LedgerCorrupt);
    auto writer = fixture.open();
    auto asked = writer.begin();
    CHECK_THROWS_AS(asked.find_by_key("ada", "k"), LedgerCorrupt);
    auto deciding = writer.begin();
    CHECK_THROWS_AS(deciding.refuse(refused("k")), LedgerCorrupt);
    CHECK(query_sql(fixture.path, "SELECT count(*) FROM name NOT INDEXED") == "2");
  };
  SECTION("lost") {
    fixture.empty_index("sqlite_autoindex_name_1", "account_reserved_in_period");
    nobody_writes_twice();
    auto snapshot = fixture.look();
    CHECK_FALSE(snapshot.find_by_key("grace", "k").has_value());  // whose name is not there
  }
  SECTION("another number") {
    fixture.replace_rows("name", "3 - number, name");
    nobody_writes_twice();
  }
}

TEST_CASE("ledger: a plan or a program that its index has under another number is not used",
          "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  const auto next_release = [&] {
    auto writer = fixture.open();
    release(writer, Epsilon::parse_down("0.25"), Rational(1));
  };
  SECTION("a plan") {
    REQUIRE(query_sql(fixture.path, "SELECT count(*) FROM plan") == "2");
    fixture.replace_rows("plan", "3 - number, digest, policy_version, question, release, first_at");
    CHECK_THROWS_AS(next_release(), LedgerCorrupt);
  }
  SECTION("a program") {
    fixture.replace_rows("build", "number, version || 'x', revision");
    CHECK_THROWS_AS(next_release(), LedgerCorrupt);
  }
  CHECK(query_sql(fixture.path, "SELECT count(*) FROM decision") == "3");
}

TEST_CASE("ledger: a value is not shown that does not follow from its components",
          "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  fixture.change("UPDATE decision SET \"values\" = '[\"13\"]' WHERE seq = 1");
  auto snapshot = fixture.look();
  CHECK_THROWS_AS(snapshot.find_by_key("ada", "k"), LedgerCorrupt);
  CHECK_THROWS_AS(snapshot.each_decision("", 0, [](const ledger::StoredDecision&) {}), LedgerCorrupt);
  std::size_t read = 0;
  std::vector<std::string> faults;
  ledger::Inspection(snapshot).each_decision(
      [&](const ledger::StoredDecision&) { ++read; },
      [&](const ledger::MalformedRecord& fault) { faults.push_back(fault.message); },
      [&](const ledger::StoredFault& fault) { faults.push_back(fault.code); });
  CHECK(read == 3);
  // Of what is computed the auditor judges. The plan of a decision that was changed is not blamed.
  CHECK(faults == std::vector<std::string>{"leaf_changed"});
}

TEST_CASE("ledger: a reservation whose charge has changed gives nothing back",
          "[ledger][integrity][negative]") {
  for (const char* amount : {"124999999999", "250000000000"}) {
    CAPTURE(amount);
    const DamagedLedger fixture;
    fixture.change("UPDATE movement SET reserved_change = " + std::string(amount) + " WHERE seq = 2");
    for (const auto outcome : {ledger::Outcome::voided, ledger::Outcome::forfeited}) {
      auto writer = fixture.open();
      auto transaction = writer.begin();
      CHECK_THROWS_AS(transaction.resolve(draft_of(outcome, fixture.ids[0])), LedgerCorrupt);
    }
  }
}

TEST_CASE("ledger: nobody writes when meta does not agree with what was recorded",
          "[ledger][integrity][negative]") {
  for (const char* sql : {"UPDATE meta SET last_time = 32472144000000",
                          "UPDATE meta SET held_at = 1767225600000", "UPDATE meta SET policy_versions = 2"}) {
    CAPTURE(sql);
    const DamagedLedger fixture;
    REQUIRE(run_sql(fixture.path, sql).empty());
    auto writer = fixture.open();
    CHECK_THROWS_AS(writer.begin(), LedgerCorrupt);
    auto snapshot = fixture.look();
    ledger::Inspection inspection(snapshot);
    const auto counts = inspection.facts().policy_versions;
    CHECK(inspection.record_faults().size() + inspection.clock_faults().size() +
              (counts.claimed == counts.rows ? 0 : 1) ==
          1);
  }
}

TEST_CASE("ledger: an account that is opened alone is dated, and ledger time with it",
          "[ledger][integrity]") {
  const DamagedLedger fixture;
  auto writer = fixture.open();
  commit_one(writer, [&](auto& t) { static_cast<void>(t.open_account(account("other", "epsilon", 5))); });
  CHECK(query_sql(fixture.path,
                  "SELECT last_time = (SELECT opened_at FROM account WHERE id = 2) FROM meta") == "1");
  CHECK_NOTHROW(writer.begin());
  auto snapshot = fixture.look();
  CHECK(ledger::Inspection(snapshot).record_faults().empty());
}

TEST_CASE("ledger: a policy is not read whose text has changed", "[ledger][integrity][negative]") {
  const DamagedLedger fixture;
  fixture.change("UPDATE policy_version SET yaml = 'version: 2'");
  auto snapshot = fixture.look();
  CHECK_THROWS_AS(snapshot.active_policy(), LedgerCorrupt);
  auto writer = fixture.open();
  auto transaction = writer.begin();
  CHECK_THROWS_AS(transaction.active_policy(), LedgerCorrupt);
}

TEST_CASE("ledger: a writer looks at the schema, and again when somebody changed it",
          "[ledger][integrity][schema]") {
  const DamagedLedger fixture;
  auto writer = fixture.open();
  { auto transaction = writer.begin(); }
  REQUIRE(
      run_sql(
          fixture.path,
          "CREATE TRIGGER sqliteXstat_x AFTER INSERT ON movement BEGIN UPDATE account SET reserved = 0; END")
          .empty());
  CHECK_THROWS_AS(writer.begin(), LedgerCorrupt);
  CHECK_THROWS_AS(writer.begin(), LedgerCorrupt);
  CHECK_THROWS_AS(fixture.open().begin(), LedgerCorrupt);
  REQUIRE(run_sql(fixture.path, "DROP TRIGGER sqliteXstat_x").empty());
  CHECK_NOTHROW(writer.begin());
}

TEST_CASE("ledger: the digest of the shipped schema is the one that was built in",
          "[ledger][integrity][schema]") {
  // With another SQLite it may be another one: then every first write compares the schema part by part.
  const DamagedLedger fixture;
  ledger::Connection connection(ledger::locate(fixture.path), ledger::Connection::Role::reader);
  CHECK(ledger::schema_digest(connection) == ledger::kShippedSchemaDigest);
}

TEST_CASE("ledger: a schema that is the shipped one but for blanks and order is written to",
          "[ledger][integrity][schema]") {
  const DamagedLedger fixture;
  const std::string name = "decision_no_delete";
  const std::string sql =
      query_sql(fixture.path, "SELECT sql FROM sqlite_master WHERE name = '" + name + "'");
  REQUIRE(run_sql(fixture.path, "DROP TRIGGER " + name + "; " + sql + " -- made again").empty());
  ledger::Connection connection(ledger::locate(fixture.path), ledger::Connection::Role::reader);
  CHECK(ledger::schema_digest(connection) != ledger::kShippedSchemaDigest);
  CHECK_NOTHROW(fixture.open().begin());
}

TEST_CASE("ledger: a trigger that was made again and does nothing is found", "[ledger][integrity][schema]") {
  const DamagedLedger fixture;
  REQUIRE(
      run_sql(fixture.path,
              "DROP TRIGGER decision_no_delete; CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision"
              " BEGIN SELECT 1; END")
          .empty());
  CHECK_THROWS_AS(fixture.open().begin(), LedgerCorrupt);
}
