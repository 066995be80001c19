// A ledger of the first schema becomes one of today's: what it tells stays, and a crash leaves one or the
// other.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/schema_one.hpp"
#include "ledger/support/told_history.hpp"
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

/// What a ledger tells in whatever schema it has, but for the migrations to this one.
nlohmann::json told(const std::string& path) {
  auto all = query_sql(path, "PRAGMA user_version") == "1" ? told_by_rows(path) : told_by_library(path);
  all["migrations"].clear();
  return all;
}

bool is_old(const std::string& path) {
  return query_sql(path, "PRAGMA user_version") == "1";
}

/// A migrated ledger tells what the old one told, and is one.
void check_migrated(const std::string& path, const nlohmann::json& before, int grants) {
  REQUIRE_FALSE(is_old(path));
  REQUIRE(difference(before, told(path)).empty());
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
  REQUIRE(migrations.size() == 3);
  for (std::size_t i = 0; i < migrations.size(); ++i) {
    CHECK(migrations[i].version == static_cast<std::int64_t>(i) + 2);
    CHECK(migrations[i].event == static_cast<std::int64_t>(i) + 1);
    CHECK(migrations[i].after_decision == grants + 1);
  }
  CHECK(inspection.facts().schema_migrations.claimed == 3);
  CHECK(inspection.facts().schema_migrations.rows == 3);
  CHECK(inspection.record_faults().empty());
  CHECK(inspection.facts().accounts.claimed == inspection.facts().accounts.rows);
}

}  // namespace

TEST_CASE("migration: a ledger of schema 1 is refused by everything but migrate, and unchanged",
          "[ledger][migration]") {
  const OldLedger old;
  const auto before = told(old.path);
  const std::string advice = "has schema 1, this program needs 4; run `epsilog migrate`";
  for (const auto& message :
       {message_of([&] { static_cast<void>(ledger::Ledger::open(old.path, {})); }),
        message_of([&] { static_cast<void>(ledger::Ledger::open_read_only(old.path)); })}) {
    CAPTURE(message);
    CHECK(message.find(advice) != std::string::npos);
  }
  CHECK_THROWS_AS(ledger::Ledger::open(old.path, {}), LedgerUnusable);
  CHECK(told(old.path) == before);
  CHECK(is_old(old.path));
}

TEST_CASE("migration: everything told is kept, the copy too, and the ledger goes on", "[ledger][migration]") {
  const OldLedger old;
  const auto before = told(old.path);
  const auto migration = ledger::Ledger::migrate(old.path);
  CHECK(migration.from == 1);
  CHECK(migration.to == 4);
  CHECK(migration.copy == old.path + ".schema1");
  check_migrated(old.path, before, 3);

  struct stat status {};
  REQUIRE(::lstat(migration.copy.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0400);
  CHECK(query_sql(migration.copy, "PRAGMA user_version") == "1");
  CHECK(told(migration.copy) == before);
  for (const std::string& name : names_in(old.directory.path())) {
    CAPTURE(name);
    CHECK(name.find("creating") == std::string::npos);
    CHECK(name.find("migrating") == std::string::npos);
  }

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
    CHECK(again.from == 4);
    CHECK(again.to == 4);
    CHECK(again.copy.empty());
  }
  SECTION("something else at the copy's name") {
    std::ofstream(old.path + ".schema1") << "mine";
    CHECK(message_of([&] { ledger::Ledger::migrate(old.path); }).find("move it away") != std::string::npos);
    CHECK(is_old(old.path));
    CHECK(fs::file_size(old.path + ".schema1") == 4);
  }
  SECTION("the copy of another ledger") {
    const LedgerFixture other;
    fs::copy_file(other.path, old.path + ".schema1");
    CHECK_THROWS_AS(ledger::Ledger::migrate(old.path), LedgerUnusable);
    CHECK(is_old(old.path));
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
      CHECK(is_old(old.path));
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
    const auto before = told(old.path);
    static_cast<void>(ledger::Ledger::migrate(old.path));
    CHECK(told(old.path + ".schema1") == before);
    CHECK(told(old.path) == before);
  }
}

TEST_CASE("migration: a row that refers to a missing one stops it with nothing changed",
          "[ledger][migration]") {
  const OldLedger old;
  REQUIRE(run_sql(old.path, "INSERT INTO charge VALUES('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 1, 5)").empty());
  const auto before = told(old.path);
  const auto names = names_in(old.directory.path());
  const auto migration = ledger::Ledger::migrate(old.path);
  CHECK(migration.from == 1);
  CHECK(migration.to == 1);
  CHECK(migration.copy.empty());
  REQUIRE(migration.faults.size() == 1);
  CHECK(migration.faults[0].record == "file");
  CHECK(migration.faults[0].code == "reference_missing");
  CHECK(is_old(old.path));
  CHECK(told(old.path) == before);
  CHECK_FALSE(fs::exists(old.path + ".poisoned"));
  CHECK_FALSE(fs::exists(old.path + ".schema1"));
  CHECK_FALSE(fs::exists(old.path + ".migrating"));
  CHECK_FALSE(fs::exists(old.path + ".migrating-old"));
}

TEST_CASE("migration: what it works on is the owner's alone, whatever the umask", "[ledger][migration]") {
  const OldLedger old;
  int looked = 0;
  const auto look = [&] {
    for (const std::string& name : names_in(old.directory.path())) {
      if (name.find("migrating") == std::string::npos) continue;
      CAPTURE(name);
      ++looked;
      struct stat file {};
      REQUIRE(::stat((old.directory.path() + "/" + name).c_str(), &file) == 0);
      CHECK((file.st_mode & 0077) == 0);
    }
  };
  ledger::MigrationSteps steps;
  steps.meaning = [&](const ledger::PolicyVersion&) {
    look();
    return ledger::PolicyMeaning();
  };
  steps.verify = [&](const std::string&) {
    look();
    return std::vector<ledger::StoredFault>();
  };
  const mode_t before = ::umask(0);
  const auto migration = ledger::Ledger::migrate(old.path, {}, steps);
  ::umask(before);
  CHECK(migration.to == 4);
  CHECK(looked >= 4);  // the copy of the old one and what is made of it, each time
}

TEST_CASE("migration: a policy version that nobody asked under stands before every later one",
          "[ledger][migration]") {
  const OldLedger old;
  // Schema 1 does not say where versions stand. Nobody asked under 3; under 4 a question was refused.
  const std::string next = ledger::next_id(query_sql(old.path, "SELECT max(id) FROM decision"), 0);
  for (const std::string& sql :
       {std::string("INSERT INTO policy_version SELECT 3, yaml, sha256, base_dir, applied_at, applied_by"
                    " FROM policy_version WHERE version = 1"),
        std::string("INSERT INTO policy_version SELECT 4, yaml, sha256, base_dir, applied_at, applied_by"
                    " FROM policy_version WHERE version = 1"),
        "INSERT INTO decision SELECT seq + 1, '" + next +
            "', created_at, principal, 'under 4', request_digest, request, dataset, 4, outcome, reasons,"
            " accounts FROM decision ORDER BY seq DESC LIMIT 1",
        std::string("UPDATE meta SET policy_versions = 4, decisions = decisions + 1")}) {
    CAPTURE(sql);
    REQUIRE(run_sql(old.path, sql).empty());
  }
  const auto migration = ledger::Ledger::migrate(old.path);
  for (const auto& fault : migration.faults) UNSCOPED_INFO(fault.record + " " + fault.message);
  REQUIRE(migration.to == 4);
  std::vector<std::string> order;
  ledger::Ledger::open_read_only(old.path).snapshot().each_line(0, [&](std::string_view text) {
    const auto line = nlohmann::json::parse(text);
    if (line.at("kind") == "policy") order.push_back("policy " + line.at("version").dump());
    if (line.value("key", "") == "under 4") order.emplace_back("decision");
  });
  CHECK(order == std::vector<std::string>{"policy 1", "policy 2", "policy 3", "policy 4", "decision"});
}

TEST_CASE("migration: what one that was killed left is removed by the next", "[ledger][migration][crash]") {
  const OldLedger old;
  const auto before = told(old.path);
  for (const char* left : {".migrating", ".migrating-wal", ".migrating-shm", ".migrating-old",
                           ".migrating-old-wal", ".migrating-old-shm", ".migrating-old-journal"}) {
    std::ofstream(old.path + left) << "left";
  }
  static_cast<void>(ledger::Ledger::migrate(old.path));
  check_migrated(old.path, before, 3);
  for (const std::string& name : names_in(old.directory.path())) {
    CAPTURE(name);
    CHECK(name.find("migrating") == std::string::npos);
  }
}

TEST_CASE("migration: a poisoned ledger is not migrated", "[ledger][migration][poison]") {
  const OldLedger old;
  std::ofstream(old.path + ".poisoned") << "{}";
  CHECK_THROWS_AS(ledger::Ledger::migrate(old.path), LedgerIo);
  CHECK(message_of([&] { ledger::Ledger::migrate(old.path); }).find("with the epsilog that wrote it") !=
        std::string::npos);
  CHECK(is_old(old.path));
}

TEST_CASE("migration: two processes at once migrate it once", "[ledger][migration][processes]") {
  const OldLedger old(50);
  const auto before = told(old.path);
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        ::_exit(ledger::Ledger::migrate(old.path).to == 4 ? 0 : 1);
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
  check_migrated(old.path, before, 50);
}

TEST_CASE("migration: killed at any moment it leaves one schema or the other, whole",
          "[ledger][migration][crash]") {
  std::mt19937_64 random(20'260'201);
  const auto begin = std::chrono::steady_clock::now();
  {
    const OldLedger old(40);
    static_cast<void>(ledger::Ledger::migrate(old.path));
  }
  const auto whole =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  int left_old = 0;
  for (int kill = 0; kill < 30; ++kill) {
    CAPTURE(kill);
    const OldLedger old(40);
    const auto before = told(old.path);
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
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % static_cast<std::uint64_t>(whole.count())));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) || status == 0));
    CHECK(told(old.path) == before);
    left_old += is_old(old.path) ? 1 : 0;
    static_cast<void>(ledger::Ledger::migrate(old.path));
    check_migrated(old.path, before, 40);
    CHECK(told(old.path + ".schema1") == before);
  }
  CHECK(left_old > 0);
}

namespace {

/// The nth operation of a migration fails. Returns whether there was one.
bool check_failing(std::int64_t nth, int code) {
  CAPTURE(nth, code);
  FaultVfs vfs;
  const OldLedger old;
  const auto before = told(old.path);
  vfs.fail_at(nth, code, false);
  bool acknowledged = false;
  try {
    // What cannot be read is named as a fault of the file, and then nothing was done either.
    acknowledged = ledger::Ledger::migrate(old.path).to == 4;
  } catch (const Error&) {
  }
  const bool failed = vfs.failed();
  vfs.stop_failing();
  if (!failed) return false;
  REQUIRE(told(old.path) == before);
  const std::string version = query_sql(old.path, "PRAGMA user_version");
  CHECK((version == "4" || (version == "1" && !acknowledged)));
  if (code == SQLITE_FULL) CHECK_FALSE(fs::exists(old.path + ".poisoned"));
  fs::remove(old.path + ".poisoned");
  static_cast<void>(ledger::Ledger::migrate(old.path));
  check_migrated(old.path, before, 3);
  return true;
}

std::int64_t operations_of_a_migration() {
  FaultVfs vfs;
  const OldLedger old;
  const std::int64_t before = vfs.operations();
  static_cast<void>(ledger::Ledger::migrate(old.path));
  return vfs.operations() - before;
}

}  // namespace

TEST_CASE("migration: storage that fails leaves one schema or the other, whole",
          "[ledger][migration][fault]") {
  // The ledger itself is written last: each of these operations, and some of what is done beside it before.
  constexpr std::int64_t kLast = 24;
  constexpr std::int64_t kStep = 23;
  const std::int64_t last = operations_of_a_migration();
  REQUIRE(last > 2 * kLast);
  for (const int code : {SQLITE_IOERR, SQLITE_FULL}) {
    int points = 0;
    for (std::int64_t nth = 1; nth <= last; nth += nth < last - kLast ? kStep : 1)
      points += check_failing(nth, code) ? 1 : 0;
    CHECK(points >= 20);
  }
}

TEST_CASE("migration: storage that fails at any operation leaves one schema or the other, whole",
          "[ledger][migration][fault][.long]") {
  for (const int code : {SQLITE_IOERR, SQLITE_FULL}) {
    std::int64_t nth = 1;
    while (check_failing(nth, code)) ++nth;
    CHECK(nth > 60);
  }
}
