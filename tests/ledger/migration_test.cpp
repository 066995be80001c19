// A ledger of the first schema becomes one of the second: every row stays, and a crash leaves one or the
// other.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/schema_one.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

struct OldLedger {
  explicit OldLedger(int grants = 3) : path(directory.path() + "/L") { create_schema_one(path, grants); }
  TemporaryDirectory directory;
  std::string path;
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// A migrated ledger holds what the old one held, and is one.
void check_migrated(const std::string& path, const std::string& rows, int grants) {
  REQUIRE(schema_one_rows(path) == rows);
  auto ledger = ledger::Ledger::open(path, {});
  auto snapshot = ledger.snapshot();
  ledger::Inspection inspection(snapshot);
  CHECK(inspection.schema_differences().empty());
  CHECK(inspection.storage_faults(true).empty());
  CHECK(inspection.reference_faults().empty());
  CHECK(inspection.order_faults().empty());
  CHECK(inspection.completeness_faults().empty());
  CHECK(inspection.lifecycle_faults().empty());
  CHECK(inspection.clock_faults().empty());
  CHECK(balances_fold(snapshot));
  CHECK(snapshot.find_key("ada", "1")->values == std::vector<Rational>{1});
  const auto migrations = snapshot.schema_migrations();
  REQUIRE(migrations.size() == 2);
  CHECK(migrations[0].version == 2);
  CHECK(migrations[1].version == 3);
  CHECK(migrations[0].event == 1);
  CHECK(migrations[1].event == 2);
  CHECK(migrations[0].after_decision == grants + 1);
  CHECK(inspection.facts().schema_migrations.claimed == 2);
  CHECK(inspection.facts().schema_migrations.rows == 2);
  CHECK(inspection.facts().accounts.claimed == inspection.facts().accounts.rows);
}

}  // namespace

TEST_CASE("migration: a ledger of schema 1 is refused by everything but migrate, and unchanged",
          "[ledger][migration]") {
  const OldLedger old;
  const std::string rows = schema_one_rows(old.path);
  const std::string advice = "has schema 1, this program needs 3; run `epsilog migrate`";
  for (const auto& message :
       {message_of([&] { static_cast<void>(ledger::Ledger::open(old.path, {})); }),
        message_of([&] { static_cast<void>(ledger::Ledger::open_read_only(old.path)); })}) {
    CAPTURE(message);
    CHECK(message.find(advice) != std::string::npos);
  }
  CHECK_THROWS_AS(ledger::Ledger::open(old.path, {}), LedgerUnusable);
  CHECK(schema_one_rows(old.path) == rows);
  CHECK(query_sql(old.path, "PRAGMA user_version") == "1");
}

TEST_CASE("migration: every row is kept, the copy too, and the ledger goes on", "[ledger][migration]") {
  const OldLedger old;
  const std::string rows = schema_one_rows(old.path);
  const auto migration = ledger::Ledger::migrate(old.path);
  CHECK(migration.from == 1);
  CHECK(migration.to == 3);
  CHECK(migration.copy == old.path + ".schema1");
  check_migrated(old.path, rows, 3);

  struct stat status {};
  REQUIRE(::lstat(migration.copy.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0400);
  CHECK(query_sql(migration.copy, "PRAGMA user_version") == "1");
  CHECK(schema_one_rows(migration.copy) == rows);
  for (const std::string& name : names_in(old.directory.path()))
    CHECK(name.find("creating") == std::string::npos);

  auto ledger = ledger::Ledger::open(old.path, {});
  CHECK(ledger.ledger_id() == "0123456789abcdef0123456789abcdef");
  auto draft = granted("new");
  draft.policy_version = 2;
  auto transaction = ledger.begin();
  CHECK(transaction.find_key("ada", "2")->seq == 2);
  draft.outcome = ledger::Outcome::reserved;
  draft.deadline = "9999-01-01T00:00:00.000Z";
  transaction.reserve(draft, charge_of(Epsilon::parse_down("0.5")));
  const auto stored = ledger.commit(std::move(transaction)).at(0);
  CHECK(stored.seq == 5);
  CHECK(stored.rules == ledger::kRules);
  CHECK(stored.program == ledger::kThisProgram);
  CHECK_FALSE(stored.program.commit.empty());
  CHECK(stored.decided_under == 2);
  CHECK(ledger.snapshot().find_id(stored.id)->accounts.at(0).balance.reserved == 500'000'000'000);
}

TEST_CASE("migration: releases of schema 1 read without a unit and are still what they were",
          "[ledger][migration]") {
  const OldLedger old;
  static_cast<void>(ledger::Ledger::migrate(old.path));
  auto snapshot = ledger::Ledger::open_read_only(old.path).snapshot();
  const auto first = snapshot.find_key("ada", "1");
  REQUIRE(first);
  CHECK(first->release->unit.empty());
  CHECK(first->release->relation.empty());
  CHECK(first->draft.parent.empty());
  CHECK(first->draft.deadline.empty());
  CHECK(first->rules == ledger::Rules::first);
  CHECK(first->program == ledger::Program{});
  CHECK(first->decided_under == 0);
  CHECK(first->accounts.at(0).balance.spent == 10'000'000'000);
}

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("migration: a second one finds nothing to do, and a foreign file is not taken for the copy",
          "[ledger][migration]") {
  const OldLedger old;
  SECTION("migrating twice") {
    static_cast<void>(ledger::Ledger::migrate(old.path));
    const auto again = ledger::Ledger::migrate(old.path);
    CHECK(again.from == 3);
    CHECK(again.to == 3);
    CHECK(again.copy.empty());
  }
  SECTION("something else at the copy's name") {
    std::ofstream(old.path + ".schema1") << "mine";
    CHECK(message_of([&] { ledger::Ledger::migrate(old.path); }).find("move it away") != std::string::npos);
    CHECK(query_sql(old.path, "PRAGMA user_version") == "1");
    CHECK(fs::file_size(old.path + ".schema1") == 4);
  }
  SECTION("the copy of another ledger") {
    const LedgerFixture other;
    fs::copy_file(other.path, old.path + ".schema1");
    CHECK_THROWS_AS(ledger::Ledger::migrate(old.path), LedgerUnusable);
    CHECK(query_sql(old.path, "PRAGMA user_version") == "1");
  }
  SECTION("a copy that holds what the ledger lacks") {
    const std::string copy = old.path + ".schema1";
    const std::string next =
        "SELECT max(seq) + 1, '7' || substr(max(id), 2), created_at, principal,"
        " 'only here', request_digest, request, dataset, policy_version, 'refused',"
        R"( '[{"code":"x"}]', accounts FROM decision)";
    for (const std::string& more :
         {"INSERT INTO decision " + next,
          std::string(
              "INSERT INTO policy_version SELECT max(version) + 1, yaml, sha256, base_dir, applied_at,"
              " applied_by FROM policy_version")}) {
      CAPTURE(more);
      fs::remove(copy);
      fs::copy_file(old.path, copy);
      REQUIRE(run_sql(copy, more).empty());
      const auto size = fs::file_size(copy);
      CHECK(message_of([&] { ledger::Ledger::migrate(old.path); }).find("that the ledger lacks") !=
            std::string::npos);
      CHECK(query_sql(old.path, "PRAGMA user_version") == "1");
      CHECK(fs::file_size(copy) == size);
    }
    // As many decisions as the ledger, but not the same ones.
    fs::remove(copy);
    fs::copy_file(old.path, copy);
    REQUIRE(run_sql(copy, "INSERT INTO decision " + next).empty());
    REQUIRE(run_sql(old.path, "INSERT INTO decision " + replaced(next, "'7'", "'6'")).empty());
    CHECK_THROWS_AS(ledger::Ledger::migrate(old.path), LedgerUnusable);
  }
  SECTION("a copy of an earlier attempt is replaced by what the ledger holds now") {
    fs::copy_file(old.path, old.path + ".schema1");
    REQUIRE(run_sql(old.path,
                    "INSERT INTO account(dataset, scope, measure, budget, spent, reserved)"
                    " VALUES('lab', '', 'epsilon', 5, 0, 0)")
                .empty());
    const std::string rows = schema_one_rows(old.path);
    static_cast<void>(ledger::Ledger::migrate(old.path));
    CHECK(schema_one_rows(old.path + ".schema1") == rows);
    CHECK(schema_one_rows(old.path) == rows);
  }
}

TEST_CASE("migration: a row that refers to a missing one stops it with nothing changed",
          "[ledger][migration]") {
  const OldLedger old;
  REQUIRE(run_sql(old.path, "INSERT INTO charge VALUES('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 1, 5)").empty());
  const std::string rows = schema_one_rows(old.path);
  CHECK_THROWS_AS(ledger::Ledger::migrate(old.path), LedgerCorrupt);
  CHECK(query_sql(old.path, "PRAGMA user_version") == "1");
  CHECK(schema_one_rows(old.path) == rows);
  CHECK_FALSE(fs::exists(old.path + ".poisoned"));
}

TEST_CASE("migration: a poisoned ledger is not migrated", "[ledger][migration][poison]") {
  const OldLedger old;
  std::ofstream(old.path + ".poisoned") << "{}";
  CHECK_THROWS_AS(ledger::Ledger::migrate(old.path), LedgerIo);
  CHECK(message_of([&] { ledger::Ledger::migrate(old.path); }).find("with the epsilog that wrote it") !=
        std::string::npos);
  CHECK(query_sql(old.path, "PRAGMA user_version") == "1");
}

TEST_CASE("migration: two processes at once migrate it once", "[ledger][migration][processes]") {
  const OldLedger old(50);
  const std::string rows = schema_one_rows(old.path);
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        ::_exit(ledger::Ledger::migrate(old.path).to == 3 ? 0 : 1);
      } catch (const std::exception&) {
        ::_exit(1);
      }
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  check_migrated(old.path, rows, 50);
}

TEST_CASE("migration: killed at any moment it leaves one schema or the other, whole",
          "[ledger][migration][crash]") {
  std::mt19937_64 random(20'260'201);
  int left_old = 0;
  for (int kill = 0; kill < 60; ++kill) {
    CAPTURE(kill);
    const OldLedger old(40);
    const std::string rows = schema_one_rows(old.path);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        ledger::Ledger::migrate(old.path);
      } catch (const std::exception&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 15'000));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) || status == 0));
    CHECK(schema_one_rows(old.path) == rows);
    left_old += query_sql(old.path, "PRAGMA user_version") == "1" ? 1 : 0;
    static_cast<void>(ledger::Ledger::migrate(old.path));
    check_migrated(old.path, rows, 40);
    CHECK(schema_one_rows(old.path + ".schema1") == rows);
  }
  CHECK(left_old > 0);
}

TEST_CASE("migration: storage that fails at any operation leaves one schema or the other, whole",
          "[ledger][migration][fault]") {
  for (const int code : {SQLITE_IOERR, SQLITE_FULL}) {
    int points = 0;
    for (std::int64_t nth = 1;; ++nth) {
      CAPTURE(nth, code);
      FaultVfs vfs;
      const OldLedger old;
      const std::string rows = schema_one_rows(old.path);
      vfs.fail_at(nth, code, false);
      bool acknowledged = true;
      try {
        static_cast<void>(ledger::Ledger::migrate(old.path));
      } catch (const Error&) {
        acknowledged = false;
      }
      const bool failed = vfs.failed();
      vfs.stop_failing();
      if (!failed) break;
      ++points;
      REQUIRE(schema_one_rows(old.path) == rows);
      const std::string version = query_sql(old.path, "PRAGMA user_version");
      CHECK((version == "3" || (version == "1" && !acknowledged)));
      if (code == SQLITE_FULL) CHECK_FALSE(fs::exists(old.path + ".poisoned"));
      fs::remove(old.path + ".poisoned");
      static_cast<void>(ledger::Ledger::migrate(old.path));
      check_migrated(old.path, rows, 3);
    }
    CHECK(points >= 20);
  }
}
