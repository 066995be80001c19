// The history that a ledger tells, by whoever reads it: rows of schemas 1 to 3 by SQL of this test's own, and
// a ledger of today by what the library gives out. A migration keeps both alike.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace epsilog::ledger_tests {

/// Of a file of schema 1, 2 or 3. What its schema had no column for is what a migration says of it.
[[nodiscard]] nlohmann::json told_by_rows(const std::string& path);

/// Of a ledger of today, without the migration that came last.
[[nodiscard]] nlohmann::json told_by_library(const std::string& path);

/// What the first of them lists that the second does not, and the other way round: a few of them, for people.
[[nodiscard]] std::string difference(const nlohmann::json& one, const nlohmann::json& other);

}  // namespace epsilog::ledger_tests
