// A copy of a ledger that an older program wrote, migrated where that is due, with its sources and a clock
// that goes on from where its own stood.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "clinic.hpp"
#include "epsilog/engine/migration.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "support/old_ledgers.hpp"

namespace epsilog::test {

/// Rows of a query, each "a|b|…\n".
inline std::string rows_of(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  std::string rows;
  const auto collect = [](void* out, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i) *static_cast<std::string*>(out) += std::string(values[i]) + "|";
    *static_cast<std::string*>(out) += "\n";
    return 0;
  };
  const int status = sqlite3_exec(database, sql.c_str(), collect, &rows, nullptr);
  sqlite3_close(database);
  REQUIRE(status == SQLITE_OK);
  return rows;
}

class KeptLedger {
 public:
  explicit KeptLedger(const std::string& file) {
    namespace fs = std::filesystem;
    const fs::path source = EPSILOG_SOURCE_DIR;
    fs::copy_file(source / "tests/fixtures/ledgers" / (file + ".epsilog"), path());
    fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_write);
    fs::create_directory_symlink(source / "configs", folder_.path("configs"));
    folder_.write("visits.csv", kVisits);
    move_sources();
    balances_before = balances();
    const std::string kept = rows_of(
        path(), "SELECT strftime('%s', last_time) * 1000 + substr(last_time, 21, 3) + 1000 FROM meta");
    next_ms_ = std::stoll(kept);
    if (rows_of(path(), "PRAGMA user_version") != "1|\n") {
      boot_offset_ = std::stoll(rows_of(path(), "SELECT boot_offset FROM meta"));
      boot_id_ = rows_of(path(), "SELECT boot_id FROM meta");
      boot_id_.resize(boot_id_.size() - 2);
    }
    migration = engine::migrate(path(), options());
  }

  [[nodiscard]] std::string path() const { return folder_.path("old.epsilog"); }
  [[nodiscard]] std::string balances() const {
    return rows_of(path(),
                   "SELECT id, dataset, scope, measure, budget, spent, reserved FROM account ORDER BY id");
  }
  [[nodiscard]] engine::Engine open() const { return engine::Engine::open(path(), options()); }
  void pass_seconds(std::int64_t seconds) const { *passed_ms_ += seconds * 1000; }
  /// What is wrong with the ledger, "" when nothing is.
  [[nodiscard]] std::string faults() const {
    std::string text;
    for (const auto& fault : engine::audit_verify(path()).faults) {
      text += fault.record + " " + fault.code + ": " + fault.message + "\n";
    }
    return text;
  }

  std::string balances_before;
  ledger::Migration migration;

 private:
  [[nodiscard]] engine::EngineOptions options() const {
    engine::EngineOptions options;
    options.clock = [start = next_ms_, offset = boot_offset_, id = boot_id_, passed = passed_ms_] {
      const std::int64_t now = start + *passed;
      return ledger::ClockReading{.wall_ms = now, .boot_ms = now - offset, .boot_id = id};
    };
    return options;
  }

  /// The base directory of its policies is the only thing in it that says where it was.
  void move_sources() const {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(path().c_str(), &database) == SQLITE_OK);
    REQUIRE(sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr) == SQLITE_OK);
    const std::string here = folder_.path("");
    const std::string sql =
        "UPDATE policy_version SET base_dir = rtrim(replace(base_dir || '/', '/srv/epsilog/', '" + here +
        "'), '/')";
    const int status = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(database);
    REQUIRE(status == SQLITE_OK);
  }

  TemporaryFolder folder_;
  std::int64_t next_ms_ = 0;
  std::int64_t boot_offset_ = 0;
  std::string boot_id_;
  std::shared_ptr<std::int64_t> passed_ms_ = std::make_shared<std::int64_t>(0);
};

}  // namespace epsilog::test
