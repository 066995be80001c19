// Changes to a ledger's file behind the program's back.
#pragma once

#include <sqlite3.h>

#include <string>

#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// Does to the file what its owner could do: foreign keys, CHECKs and triggers stand in nobody's way. What
/// SQLite answers: that a key must be unique still holds.
inline int tampering(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  const std::string drop_triggers =
      "SELECT 'DROP TRIGGER ' || name || ';' FROM sqlite_master WHERE type = 'trigger'";
  std::string drops;
  const auto collect = [](void* out, int, char** values, char**) {
    *static_cast<std::string*>(out) += values[0];
    return 0;
  };
  sqlite3_exec(database, drop_triggers.c_str(), collect, &drops, nullptr);
  // Putting the triggers back afterwards leaves the schema as shipped: the change itself must be seen.
  std::string restore;
  sqlite3_exec(database, "SELECT sql || ';' FROM sqlite_master WHERE type = 'trigger'", collect, &restore,
               nullptr);
  char* message = nullptr;
  const int status =
      sqlite3_exec(database, ("PRAGMA ignore_check_constraints=ON;" + drops + sql + ";" + restore).c_str(),
                   nullptr, nullptr, &message);
  UNSCOPED_INFO(sql << ": " << (message ? message : ""));
  sqlite3_free(message);
  const bool changed = sqlite3_total_changes(database) > 0;
  sqlite3_close(database);
  return status == SQLITE_OK && !changed ? SQLITE_DONE : status;
}
inline void tamper(const std::string& path, const std::string& sql) {
  REQUIRE(tampering(path, sql) == SQLITE_OK);
}

/// The checksum of an account, as docs/ledger_format.md says.
inline std::int64_t checksum_of(const ledger::AccountState& account) {
  std::string text;
  const auto add = [&text](const std::string& column) {
    text += std::to_string(column.size()) + ":" + column + ",";
  };
  add(std::to_string(account.id));
  for (const std::string& name : {account.dataset, account.scope, account.measure}) add(name);
  for (const std::int64_t units : {account.balance.limit, account.balance.spent, account.balance.reserved}) {
    add(std::to_string(units));
  }
  return static_cast<std::int64_t>(std::stoull(ledger::sha256_hex(text).substr(0, 16), nullptr, 16));
}

/// Gives every account that limit, with the checksum that belongs to it.
inline void set_limits(const std::string& path, std::int64_t units) {
  std::string sql;
  for (ledger::AccountState account : ledger::Ledger::open_read_only(path).snapshot().accounts("")) {
    account.balance.limit = units;
    sql += "UPDATE account SET budget = " + std::to_string(units) +
           ", checksum = " + std::to_string(checksum_of(account)) +
           " WHERE id = " + std::to_string(account.id) + ";";
  }
  tamper(path, sql);
}

}  // namespace epsilog::test
