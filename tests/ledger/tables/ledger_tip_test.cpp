// What a Ledger keeps of the file between two of its transactions, and within one, survives nothing that
// could make it wrong. Each row of the table is something that happens to the file of a Ledger that has just
// written, and what the next transaction of that Ledger finds.
#include <sqlite3.h>

#include <tuple>

#include "epsilog/ledger/files_replaced.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fixture.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

void apply(ledger::Ledger& ledger, const std::string& yaml, const std::vector<ledger::AccountState>& wanted) {
  commit_one(ledger, [&](auto& t) { t.apply_policy(policy(yaml), wanted, "why"); });
}

/// Over the same file, page by page, as programs do that know nothing of ledgers.
void put_in_place(const std::string& from, const std::string& to) {
  sqlite3* source = nullptr;
  sqlite3* target = nullptr;
  REQUIRE(sqlite3_open(from.c_str(), &source) == SQLITE_OK);
  REQUIRE(sqlite3_open(to.c_str(), &target) == SQLITE_OK);
  sqlite3_backup* const backup = sqlite3_backup_init(target, "main", source, "main");
  REQUIRE(backup != nullptr);
  CHECK(sqlite3_backup_step(backup, -1) == SQLITE_DONE);
  CHECK(sqlite3_backup_finish(backup) == SQLITE_OK);
  sqlite3_close(target);
  sqlite3_close(source);
}

void refuse_each(ledger::Ledger& ledger, const std::vector<std::string>& principals) {
  auto transaction = ledger.begin();
  for (const std::string& principal : principals) {
    auto draft = refused();
    draft.principal = principal;
    transaction.refuse(draft);
  }
  static_cast<void>(ledger.commit(std::move(transaction)));
}

struct Happening {
  const char* what;
  std::function<void(const LedgerFixture&)> happens;
  std::string finds;         ///< as outcome_of()
  std::int64_t seq = 0;      // of the next release then
  std::int64_t version = 0;  // the active one
};

const std::vector<Happening>& happenings() {
  static const std::vector<Happening> kHappenings = {
      {"nothing", [](const LedgerFixture&) {}, "done", 3, 1},
      {"another object of this process releases",
       [](const LedgerFixture& fixture) {
         auto other = fixture.open();
         release(other, kTenth, Rational(3));
       },
       "done", 4, 1},
      {"another process releases",
       [](const LedgerFixture& fixture) {
         REQUIRE(in_child([&] {
                   auto other = fixture.open();
                   release(other, kTenth, Rational(3));
                 }) == 0);
       },
       "done", 4, 1},
      {"another process applies a policy",
       [](const LedgerFixture& fixture) {
         REQUIRE(in_child([&] {
                   auto other = fixture.open();
                   apply(other, "version: 1 # 2\n", {account("clinic", "epsilon", 2 * kTenth.units() + 7)});
                 }) == 0);
       },
       "done", 3, 2},
      {"another object relocates a source",
       [](const LedgerFixture& fixture) {
         auto other = fixture.open();
         commit_one(other, [&](auto& t) { t.relocate("clinic", "/there", "ada", ""); });
       },
       "done", 3, 1},
      {"a program that knows nothing of turns counts otherwise",
       [](const LedgerFixture& fixture) {
         REQUIRE(run_sql(fixture.path, "UPDATE meta SET decisions = 7").empty());
       },
       "corrupt"},
      {"a program that knows nothing of turns changes the schema",
       [](const LedgerFixture& fixture) {
         REQUIRE(run_sql(fixture.path, "DROP TRIGGER movement_no_update").empty());
       },
       "corrupt"},
      {"a newer program gives it another schema",
       [](const LedgerFixture& fixture) { REQUIRE(run_sql(fixture.path, "PRAGMA user_version=5").empty()); },
       "unusable"},
      {"another file takes its place",
       [](const LedgerFixture& fixture) {
         fs::rename(fixture.path, fixture.path + ".old");
         fs::copy_file(fixture.path + ".old", fixture.path);
       },
       "replaced"},
      {"an older file takes its place",
       [](const LedgerFixture& fixture) { fs::rename(fixture.path + ".backup", fixture.path); }, "replaced"},
      {"it is poisoned",
       [](const LedgerFixture& fixture) {
         REQUIRE(ledger::write_poison(ledger::locate(fixture.path), "on purpose"));
       },
       "poisoned"},
  };
  return kHappenings;
}

}  // namespace

TEST_CASE("standing: what is kept of a ledger survives nothing that happens to it", "[ledger][standing]") {
  for (const Happening& happening : happenings()) {
    CAPTURE(happening.what);
    const LedgerFixture fixture;
    release(fixture.open(), kTenth, Rational(1));
    fs::copy_file(fixture.path, fixture.path + ".backup");
    auto ledger = fixture.open();
    release(ledger, kTenth, Rational(2));
    happening.happens(fixture);
    CHECK(outcome_of([&] { static_cast<void>(ledger.begin()); }) == happening.finds);
    if (happening.finds != "done") continue;
    auto transaction = ledger.begin();
    CHECK(transaction.active_policy_version() == happening.version);
    CHECK(transaction.location("clinic") == fixture.look().location("clinic"));
    auto draft = granted();
    draft.policy_version = happening.version;
    draft.outcome = ledger::Outcome::reserved;
    draft.deadline = "9999-01-01T00:00:00.000Z";
    transaction.reserve(draft, charge_of(Epsilon::from_units(7)));
    CHECK(ledger.commit(std::move(transaction)).at(0).seq == happening.seq);
    auto snapshot = fixture.look();
    CHECK(balances_fold(snapshot));
    CHECK(ledger::Inspection(snapshot).lifecycle_faults().empty());
  }
}

TEST_CASE("standing: nothing is kept of a history that a copy took the place of", "[ledger][standing]") {
  // As many lines as were written here since, fewer, more, and more than are followed one by one.
  for (const int since : {0, 1, 2, 3, 5, 1'500}) {
    CAPTURE(since);
    const LedgerFixture fixture;
    auto ledger = fixture.open();
    release(ledger, kTenth, Rational(1));
    const std::string copy = fixture.path + ".copy";
    put_in_place(fixture.path, copy);
    refuse_each(ledger, {"grace", "ada"});
    release(ledger, Epsilon::from_units(20), Rational(2));
    {
      auto elsewhere = ledger::Ledger::open(copy, {});
      std::vector<std::string> others;
      for (int i = 0; i < since; ++i) others.push_back(i == 0 ? "alan" : i == 1 ? "ada" : "mary");
      refuse_each(elsewhere, others);
      if (since > 0) release(elsewhere, Epsilon::from_units(30), Rational(3));
    }
    put_in_place(copy, fixture.path);
    forget_end(fixture.path);
    refuse_each(ledger, {"grace"});
    const std::int64_t seq = release(ledger, Epsilon::from_units(20), Rational(4)).seq;
    CHECK(seq == 3 + since + (since > 0 ? 1 : 0));
    auto snapshot = fixture.look();
    std::string last;
    snapshot.each_decision(
        "", 2, [&](const ledger::StoredDecision& decision) { last += decision.draft.principal + " "; });
    CHECK(last == "grace ada ");
    std::string faults;  // lines, leaves and nodes among them
    ledger::Inspection(snapshot).each_decision(
        [](const auto&) {}, [&](const auto& malformed) { faults += malformed.message + "; "; },
        [&](const auto& fault) { faults += fault.message + "; "; });
    CHECK(faults == "");
    CHECK(balances_fold(snapshot));
  }
}

TEST_CASE("standing: what was rolled back or refused is not kept", "[ledger][standing]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  for (const bool by_hand : {true, false}) {
    auto transaction = ledger.begin();
    record_release(transaction, kTenth, Rational(2), "k");
    transaction.apply_policy(policy("version: 1 # 2\n"), {}, "why");
    if (by_hand) continue;
    CHECK_THROWS_AS(transaction.open_account(account("", "epsilon", 5)), InvalidParameter);
  }
  auto transaction = ledger.begin();
  CHECK(transaction.active_policy_version() == 1);
  CHECK_FALSE(transaction.find_by_key("ada", "k").has_value());
  record_release(transaction, kTenth, Rational(2), "k");
  CHECK(ledger.commit(std::move(transaction)).at(0).seq == 2);
}

TEST_CASE("standing: within a transaction an account stands as it was left", "[ledger][standing]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto units = [](std::int64_t amount) { return Epsilon::from_units(amount); };
  auto transaction = ledger.begin();
  const auto balance = [&transaction] {
    const std::vector<ledger::AccountName> names{{"clinic", "", "epsilon"}};
    const auto named = transaction.accounts(names).at(0).balance;
    const auto listed = transaction.accounts("clinic").at(0).balance;  // as the rows say
    CHECK(std::tuple(named.limit, named.spent, named.reserved) ==
          std::tuple(listed.limit, listed.spent, listed.reserved));
    return listed;
  };
  record_release(transaction, units(5), Rational(1));
  CHECK(balance().spent == 5);
  const std::string kept = record_outcome(transaction, draft_of(ledger::Outcome::reserved), units(3));
  CHECK(balance().reserved == 3);
  record_outcome(transaction, draft_of(ledger::Outcome::voided, kept), units(3));
  CHECK(balance().reserved == 0);
  transaction.apply_policy(policy("version: 1 # 2\n"),
                           {account("clinic", "epsilon", 11), account("b", "epsilon", 4)}, "why");
  CHECK(balance().limit == 11);
  CHECK(transaction.open_account(account("c", "epsilon", 4)).id == 3);
  CHECK(transaction.accounts(std::vector<ledger::AccountName>{{"c", "", "epsilon"}, {"d", "", "epsilon"}})
            .size() == 1);
  auto draft = draft_of(ledger::Outcome::reserved);
  draft.policy_version = 2;
  transaction.reserve(draft, charge_of(units(6)));
  CHECK(balance().reserved == 6);
  CHECK(ledger.commit(std::move(transaction)).size() == 4);
  CHECK(balances_fold(fixture.look()));
}

TEST_CASE("standing: a key that was found to be free is taken by the next decision that bears it",
          "[ledger][standing]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  CHECK_FALSE(transaction.find_by_key("ada", "k").has_value());
  transaction.refuse(refused("k"));
  CHECK_THROWS_AS(transaction.refuse(refused("k")), InvalidParameter);
  auto another = ledger.begin();
  another.refuse(refused("k"));
  CHECK_FALSE(another.find_by_key("ada", "other").has_value());
  CHECK_THROWS_AS(another.refuse(refused("k")), InvalidParameter);
}
