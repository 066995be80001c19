// Changes to a ledger's file behind the program's back.
#pragma once

#include <sqlite3.h>

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

/// Takes what L.lock remembers of the ledger's end away, as who owns the file can: what is found then is found
/// in the file alone. The other marks in it stay.
inline void forget_end(const std::string& path) {
  constexpr std::uintmax_t kOtherMarks = 1024;  // docs/ledger_format.md
  const std::string lock = path + ".lock";
  if (std::filesystem::exists(lock) && std::filesystem::file_size(lock) > kOtherMarks) {
    std::filesystem::resize_file(lock, kOtherMarks);
  }
}

/// Makes the log of the rows as they are, as who owns the file can: lines, leaves, nodes, digests of plans
/// and what meta counts; what L.lock remembers is forgotten. The lines stand where they stood; that of a row
/// that is new, where one of its kind was lost or at the end; a line of which the row cannot be read keeps its
/// leaf.
void make_log_anew(const std::string& path);
/// tamper() by somebody who knows of the log: what still is found, is found without it.
inline void tamper_with_log(const std::string& path, const std::string& sql) {
  tamper(path, sql);
  make_log_anew(path);
}

/// Of the plan of one decision, as SQL.
inline std::string plan_of(int seq) {
  return "(SELECT plan FROM decision WHERE seq = " + std::to_string(seq) + ")";
}
/// Sets a member of the first component of a release to a text, and keeps the order of members.
inline std::string in_component(int seq, const std::string& member, const std::string& value) {
  return "UPDATE plan SET release = json_set(release, '$.components[0]', json((SELECT json_group_object(key, "
         "value) FROM (SELECT key, value FROM json_each(json_set(json_extract(release, '$.components[0]'), "
         "'$." +
         member + "', '" + value + "')) ORDER BY key)))) WHERE number = " + plan_of(seq);
}
/// The number of a name, which is there afterwards: `with_name` before the statement that uses `number_of`.
inline std::string with_name(const std::string& name) {
  return "INSERT OR IGNORE INTO name SELECT max(number) + 1, '" + name + "' FROM name;" +
         "UPDATE meta SET names = (SELECT count(*) FROM name);";
}
inline std::string number_of(const std::string& name) {
  return "(SELECT number FROM name WHERE name = '" + name + "')";
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

/// Gives every account, or those of one scope, that limit, with the checksum that belongs to it.
inline void set_limits(const std::string& path, std::int64_t units, const std::string& scope = "") {
  std::string sql;
  for (ledger::AccountState account : ledger::Ledger::open_read_only(path).snapshot().accounts("")) {
    if (!scope.empty() && account.scope != scope) continue;
    account.balance.limit = units;
    sql += "UPDATE account SET \"limit\" = " + std::to_string(units) +
           ", checksum = " + std::to_string(checksum_of(account)) +
           " WHERE id = " + std::to_string(account.id) + ";";
  }
  tamper_with_log(path, sql);
}

/// Of the text of a time, as SQL: what the rows have of it.
inline std::string ms_of(const std::string& time) {
  return "(unixepoch('" + time.substr(0, 19) + "') * 1000 + " + time.substr(20, 3) + ")";
}

}  // namespace epsilog::test
