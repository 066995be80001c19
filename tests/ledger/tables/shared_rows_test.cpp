// What decisions refer to by number: kept once, known again, forgotten with what was undone.
#include "shared_rows.hpp"

#include "connection.hpp"
#include "ledger/support/fixture.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;

namespace {

std::string count(const LedgerFixture& fixture, const std::string& table) {
  return query_sql(fixture.path, "SELECT count(*) FROM " + table);
}

ledger::DecisionDraft by(const std::string& principal) {
  auto draft = refused();
  draft.principal = principal;
  return draft;
}

}  // namespace

TEST_CASE("shared rows: names, programs and plans are stored once and numbered as they came",
          "[ledger][shared]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  release(ledger, kTenth, Rational(2));
  auto transaction = ledger.begin();
  transaction.refuse(by("grace"));
  transaction.refuse(by("ada"));
  transaction.refuse(by("clinic"));  // as the dataset is called
  static_cast<void>(ledger.commit(std::move(transaction)));
  release(ledger, Epsilon::parse_down("0.2"), Rational(3));
  CHECK(query_sql(fixture.path, "SELECT group_concat(number || name, ' ') FROM name") ==
        "1ada 2clinic 3grace");
  CHECK(query_sql(fixture.path,
                  "SELECT group_concat(principal || dataset || plan || build, ' ') FROM decision") ==
        "1211 1211 3221 1221 2221 1231");
  CHECK(count(fixture, "build") == "1");
  CHECK(query_sql(fixture.path, "SELECT names || builds || plans FROM meta") == "313");
  CHECK(query_sql(fixture.path,
                  "SELECT count(*) FROM plan JOIN log ON kind = 7 AND row = number JOIN decision AS d"
                  " ON d.plan = number GROUP BY number HAVING min(d.line_index) <= log.line_index") ==
        "no row");
  auto snapshot = fixture.look();
  std::vector<std::string> principals;
  snapshot.each_decision(
      "", 0, [&](const ledger::StoredDecision& decision) { principals.push_back(decision.draft.principal); });
  CHECK(principals == std::vector<std::string>{"ada", "ada", "grace", "ada", "clinic", "ada"});
}

TEST_CASE("shared rows: what a transaction added and was undone is not known by the next",
          "[ledger][shared]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  {
    auto dropped = ledger.begin();
    dropped.refuse(by("grace"));
    record_release(dropped, kTenth, Rational(1));
  }
  CHECK(count(fixture, "name") == "0");
  CHECK(count(fixture, "plan") == "0");
  auto transaction = ledger.begin();
  transaction.refuse(by("alan"));
  record_release(transaction, kTenth, Rational(1));
  transaction.refuse(by("grace"));
  static_cast<void>(ledger.commit(std::move(transaction)));
  CHECK(query_sql(fixture.path, "SELECT group_concat(number || name, ' ') FROM name") ==
        "1alan 2clinic 3ada 4grace");
  CHECK(count(fixture, "plan") == "2");
  auto snapshot = fixture.look();
  int read = 0;
  snapshot.each_decision("", 0, [&](const ledger::StoredDecision&) { ++read; });
  CHECK(read == 3);
}

TEST_CASE("shared rows: two who write know what the other added", "[ledger][shared]") {
  const LedgerFixture fixture;
  auto one = fixture.open();
  auto other = fixture.open();
  auto reader = ledger::Ledger::open_read_only(fixture.path);
  for (int round = 0; round < 3; ++round) {
    for (auto* ledger : {&one, &other}) {
      auto transaction = ledger->begin();
      transaction.refuse(by("ada"));
      transaction.refuse(by((ledger == &one ? "one" : "other") + std::to_string(round)));
      transaction.refuse(by((ledger == &one ? "other" : "one") + std::to_string(round)));
      static_cast<void>(ledger->commit(std::move(transaction)));
      release(*ledger, Epsilon::from_units(1'000 + round), Rational(round));
      auto snapshot = reader.snapshot();
      std::string last;
      snapshot.each_decision(
          "", 2, [&](const ledger::StoredDecision& decision) { last += decision.draft.principal; });
      CHECK(last == (ledger == &one ? "other" : "one") + std::to_string(round) + "ada");
    }
  }
  CHECK(count(fixture, "name") == "8");
  CHECK(count(fixture, "plan") == "4");
}

TEST_CASE("shared rows: a number that nothing has is named", "[ledger][shared][negative]") {
  const LedgerFixture fixture;
  ledger::Connection connection(ledger::locate(fixture.path), ledger::Connection::Role::reader);
  ledger::SharedRows& shared = connection.shared_rows();
  CHECK_THROWS_WITH(shared.name(connection, 5), "name 5 is not there");
  CHECK_THROWS_WITH(shared.build(connection, 5), "build 5 is not there");
  CHECK_THROWS_WITH(shared.plan(connection, 5), "plan 5 is not there");
  CHECK_THROWS_WITH(shared.account(connection, 5), "account 5 is not there");
  CHECK_THROWS_WITH(shared.build(connection, 0), "build 0 is not there");
  CHECK(shared.account(connection, 1) == ledger::AccountName{"clinic", "", "epsilon"});
  CHECK_FALSE(shared.number_of_name(connection, "nobody"));
  CHECK_FALSE(shared.number_of_build(connection, {.version = "0", .revision = "x"}));
  CHECK_FALSE(shared.number_of_plan(connection, ledger::Sha256()));
}

TEST_CASE("shared rows: what was read is read again once somebody else committed", "[ledger][shared]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  ledger::Connection connection(ledger::locate(fixture.path), ledger::Connection::Role::reader);
  const auto name_of_first = [&] {
    connection.execute("BEGIN; SELECT one FROM meta");
    connection.shared_rows().forget_if_changed(connection);
    std::string name = connection.shared_rows().name(connection, 1);
    connection.execute("COMMIT");
    return name;
  };
  CHECK(name_of_first() == "ada");
  tamper_with(fixture.path, "UPDATE name SET name = 'eve' WHERE number = 1");
  CHECK(connection.shared_rows().name(connection, 1) == "ada");  // kept while nobody asked
  CHECK(name_of_first() == "eve");
}
