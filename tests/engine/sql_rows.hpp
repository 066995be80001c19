// What SQL does to a ledger's file and finds in it, behind the program's back.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace epsilog::test {

using SqlRow = std::vector<std::string>;

/// Runs SQL on a file and returns the rows that it finds, "NULL" for NULL. What only reads changes nothing
/// beside the file either.
inline std::vector<SqlRow> sql_rows(const std::string& path, const std::string& sql) {
  const bool reads = sql.starts_with("SELECT") || sql.starts_with("EXPLAIN");
  const int flags = reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, flags, nullptr) == SQLITE_OK);
  std::vector<SqlRow> rows;
  const auto keep = [](void* kept, int columns, char** texts, char**) {
    SqlRow& row = static_cast<std::vector<SqlRow>*>(kept)->emplace_back();
    for (int i = 0; i < columns; ++i) row.emplace_back(texts[i] == nullptr ? "NULL" : texts[i]);
    return 0;
  };
  const int status = sqlite3_exec(database, sql.c_str(), keep, &rows, nullptr);
  sqlite3_close(database);
  INFO(sql);
  REQUIRE(status == SQLITE_OK);
  return rows;
}

/// Returns the first value that SQL finds.
inline std::string sql_value(const std::string& path, const std::string& sql) {
  return sql_rows(path, sql).at(0).at(0);
}

}  // namespace epsilog::test
