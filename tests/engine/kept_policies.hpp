// Every policy that there is to read: those shipped, those of ledgers that older programs wrote, and one for
// each key that a policy may have.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "policy_key_changes.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Adds every version that a kept ledger holds. The file is read where it lies, which must never change.
inline void add_policies_of_ledger(const std::filesystem::path& path,
                                   std::map<std::string, std::string>& policies) {
  sqlite3* database = nullptr;
  const std::string uri = "file:" + path.string() + "?immutable=1";
  REQUIRE(sqlite3_open_v2(uri.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) ==
          SQLITE_OK);
  sqlite3_stmt* query = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, "SELECT version, yaml FROM policy_version", -1, &query, nullptr) ==
          SQLITE_OK);
  while (sqlite3_step(query) == SQLITE_ROW) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(query, 1));
    const auto length = static_cast<std::size_t>(sqlite3_column_bytes(query, 1));
    policies[path.parent_path().filename().string() + "/" + path.stem().string() + " " +
             std::to_string(sqlite3_column_int64(query, 0))] = std::string(bytes, length);
  }
  sqlite3_finalize(query);
  sqlite3_close(database);
}

/// By where it stands.
inline std::map<std::string, std::string> kept_policies(const std::filesystem::path& source) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> policies;
  for (const auto& file : fs::directory_iterator(source / "configs")) {
    if (file.path().extension() == ".yaml") policies[file.path().filename()] = content_of(file.path());
  }
  for (const auto& file : fs::recursive_directory_iterator(source / "tests/fixtures/ledgers")) {
    if (file.path().extension() == ".epsilog") add_policies_of_ledger(file.path(), policies);
  }
  for (const auto& [key, change] : key_changes()) {
    policies["before " + key] = before_and_after(change).before;
    policies["after " + key] = before_and_after(change).after;
  }
  return policies;
}

}  // namespace epsilog::test
