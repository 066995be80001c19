// What keeps a ledger of an older schema from being migrated: every kind of fault, what verifies it, and a
// disk that is full. Each leaves it as it was.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "epsilog/accounting/errors.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/full_disk.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/schema_one.hpp"
#include "ledger/support/told_history.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

/// A copy of a kept ledger, of schema 3 unless another is named.
struct KeptLedger {
  explicit KeptLedger(const std::string& name = "rules2/waiting") : path(directory.path() + "/L") {
    fs::copy_file(std::string(EPSILOG_KEPT_LEDGERS) + "/" + name + ".epsilog", path);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
  /// As tamper_with(), with nothing left in the log.
  void tamper(const std::string& sql) const { tamper_with(path, sql); }

  TemporaryDirectory directory;
  std::string path;
};

void check_unchanged(const KeptLedger& kept, const std::string& before) {
  CHECK(read_file(kept.path) == before);
  for (const char* suffix : {".schema3", ".migrating", ".migrating-old", ".poisoned"}) {
    CAPTURE(suffix);
    CHECK_FALSE(fs::exists(kept.path + suffix));
  }
}

struct Damage {
  const char* code;
  const char* sql;
};

}  // namespace

TEST_CASE("migration: a ledger with a fault of any kind is as it was, and the fault is named",
          "[ledger][migration][negative]") {
  const std::vector<Damage> damages = {
      {"checksum_differs", "UPDATE account SET spent = -1"},
      {"deadline_changed", "UPDATE decision SET deadline = '' WHERE outcome = 'reserved'"},
      {"decision_differs", "UPDATE decision SET reasons = '[1]' WHERE outcome = 'granted'"},
      {"reference_missing", "INSERT INTO charge VALUES('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 1, 5)"},
      {"schema_differs", "CREATE TABLE extra(x)"},
      {"count_differs", "UPDATE meta SET decisions = decisions + 1"},
      {"count_differs", "UPDATE meta SET policy_versions = policy_versions + 1"},
      {"count_differs", "UPDATE meta SET limit_changes = limit_changes + 1"},
      {"count_differs", "UPDATE meta SET limit_removals = limit_removals + 1"},
      {"count_differs", "UPDATE meta SET clock_events = clock_events + 1"},
      {"count_differs", "UPDATE meta SET schema_migrations = schema_migrations + 1"},
      {"count_differs", "UPDATE meta SET relocations = relocations + 1"},
      {"count_differs", "UPDATE meta SET accounts = accounts + 1"},
      {"count_differs", "UPDATE meta SET events = events + 1"},
      {"order", "UPDATE decision SET created_at = '1999-01-01T00:00:00.000Z' WHERE seq = 3"},
      {"incomplete", "DELETE FROM release WHERE decision_id = (SELECT min(decision_id) FROM release)"},
      {"incomplete", "DELETE FROM charge WHERE decision_id = (SELECT min(decision_id) FROM release)"},
      {"lifecycle",
       "DELETE FROM open_decision WHERE decision_id = (SELECT min(decision_id) FROM open_decision)"},
      {"lifecycle", "UPDATE decision SET outcome = 'forfeited' WHERE outcome = 'rejected'"},
      {"clock_differs", "UPDATE meta SET held_at = '2026-01-01T00:00:00.000Z'"},
      {"event_order", "UPDATE policy_version SET event = 9 WHERE version = 1"},
      {"event_order", "UPDATE policy_version SET after_decision = 999 WHERE version = 1"},
      {"event_time", "UPDATE meta SET last_time = '2999-01-01T00:00:00.000Z'"},
      {"event_time", "UPDATE policy_version SET applied_at = '2999-01-01T00:00:00.000Z' WHERE version = 1"},
      {"event_differs",
       "INSERT INTO limit_change VALUES(1, 0, 1, 1, 1, 2, '2025-01-01T00:00:00.000Z', 'eve', '')"},
      {"event_differs",
       "INSERT INTO relocation VALUES(1, 2, 0, 'clinic', 'a', '2999-01-01T00:00:00.000Z', 'e', '')"},
      {"migration_gap", "INSERT INTO schema_migration VALUES(2, 0, '2025-01-01T00:00:00.000Z', 2)"},
      {"checksum_differs", "UPDATE account SET checksum = checksum + 1 WHERE id = 1"},
      {"record_unreadable", "UPDATE decision SET accounts = '[{' WHERE seq = 1"},
      {"record_unreadable", "UPDATE release SET components = '{' WHERE rowid = 1"},
      {"record_unreadable", "UPDATE release SET charged = '-0.1' WHERE rowid = 1"},
      {"record_unreadable", "UPDATE decision SET rules = 99 WHERE seq = 1"},
      {"digest_differs",
       "UPDATE decision SET request_digest = replace(hex(zeroblob(32)), 'A', 'a') WHERE seq = 1"},
      {"id_time",
       "UPDATE decision SET created_at = '2998-01-01T00:00:00.000Z' WHERE seq ="
       " (SELECT max(seq) FROM decision)"},
      {"rules_order", "UPDATE decision SET rules = 1 WHERE seq = 1"},
      {"program_changed", "UPDATE decision SET program_version = '', program_commit = '' WHERE seq = 1"},
      {"policy_order", "UPDATE decision SET decided_under = 0 WHERE seq = 1"},
      {"account_differs",
       "UPDATE decision SET accounts = replace(accounts, '\"measure\":\"epsilon\"',"
       " '\"measure\":\"rho\"') WHERE seq = 1"},
      {"text_changed", "UPDATE release SET value = replace(value, '[', '[ ') WHERE rowid = 1"},
      {"release_changed", "UPDATE release SET grid = '7' WHERE rowid = 1"},
  };
  for (const Damage& damage : damages) {
    CAPTURE(damage.sql);
    const KeptLedger kept;
    kept.tamper(damage.sql);
    const std::string before = read_file(kept.path);
    const auto migration = ledger::Ledger::migrate(kept.path);
    CHECK(migration.from == 3);
    CHECK(migration.to == 3);
    CHECK(migration.copy.empty());
    std::vector<std::string> codes;
    for (const auto& fault : migration.faults)
      codes.push_back(fault.code + ": " + fault.record + " " + fault.message);
    CAPTURE(codes);
    CHECK(std::any_of(codes.begin(), codes.end(), [&](const std::string& code) {
      return code.starts_with(damage.code + std::string(":"));
    }));
    check_unchanged(kept, before);
  }
}

TEST_CASE("migration: a file whose pages are damaged is as it was", "[ledger][migration][negative]") {
  const KeptLedger kept;
  const auto page =
      std::stoll(query_sql(kept.path, "SELECT rootpage FROM sqlite_master WHERE name = 'release'"));
  const auto size = std::stoll(query_sql(kept.path, "PRAGMA page_size"));
  {
    std::fstream file(kept.path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp((page - 1) * size);
    file << std::string(16, '\xff');
  }
  const std::string before = read_file(kept.path);
  CHECK_THROWS_AS(ledger::Ledger::migrate(kept.path), LedgerCorrupt);
  check_unchanged(kept, before);
}

TEST_CASE("migration: what a verification finds keeps the ledger as it was",
          "[ledger][migration][negative]") {
  const KeptLedger kept;
  const std::string before = read_file(kept.path);
  ledger::MigrationSteps steps;
  std::int64_t seen = 0;
  steps.verify = [&](const std::string& path) -> std::vector<ledger::StoredFault> {
    CHECK(path != kept.path);
    seen = ledger::Ledger::open_read_only(path).snapshot().decisions();
    return {{"decision 5", "loss_differs", "loses more than it was charged"}};
  };
  const auto migration = ledger::Ledger::migrate(kept.path, {}, steps);
  CHECK(seen == 28);
  CHECK(migration.to == 3);
  REQUIRE(migration.faults.size() == 1);
  CHECK(migration.faults[0].code == "loss_differs");
  check_unchanged(kept, before);
  steps.verify = [](const std::string&) -> std::vector<ledger::StoredFault> {
    throw LedgerCorrupt("it cannot be verified");
  };
  CHECK_THROWS_AS(ledger::Ledger::migrate(kept.path, {}, steps), LedgerCorrupt);
  check_unchanged(kept, before);
}

TEST_CASE("migration: where there is no room for it nothing is done", "[ledger][migration][negative]") {
  const KeptLedger kept;
  const std::string before = read_file(kept.path);
  const std::uint64_t needed = 4 * fs::file_size(kept.path);
  {
    const FullDisk disk(needed - 1);
    CHECK_THROWS_AS(ledger::Ledger::migrate(kept.path), LedgerBusy);
    check_unchanged(kept, before);
  }
  const FullDisk disk(needed);
  CHECK(ledger::Ledger::migrate(kept.path).to == 4);
}

TEST_CASE("migration: a policy version says what its meaning was, and opens its accounts after it",
          "[ledger][migration]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/L";
  create_schema_one(path, 2);
  ledger::MigrationSteps steps;
  steps.meaning = [](const ledger::PolicyVersion& version) -> ledger::PolicyMeaning {
    return {.implies = "{\"version\":" + std::to_string(version.version) + "}",
            .accounts = {{"clinic", "", "epsilon"}, {"clinic", "", "of another version"}}};
  };
  REQUIRE(ledger::Ledger::migrate(path, {}, steps).to == 4);
  CHECK(query_sql(path, "SELECT group_concat(implies, ' ') FROM policy_version") ==
        R"({"version":1} {"version":2})");
  // ledger; policy 1, its place, its account; plan and decision 1, ...: the account is the version's, not the
  // first decision's.
  CHECK(query_sql(path, "SELECT kind || ' ' || row FROM log WHERE idx = 3") == "4 1");
  CHECK(query_sql(
            path,
            "SELECT opened_at = (SELECT applied_at FROM policy_version WHERE version = 1) FROM account") ==
        "1");
}
