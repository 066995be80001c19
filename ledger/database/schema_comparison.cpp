#include "schema_comparison.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "epsilog/accounting/errors.hpp"
#include "known_features.hpp"
#include "schema.hpp"

namespace epsilog::ledger {
namespace {

// By their exact names: LIKE has wildcards, and a trigger may be called anything.
#define EPSILOG_FROM_PARTS \
  " FROM sqlite_master"    \
  " WHERE NOT (type = 'table' AND tbl_name = name AND name IN ('sqlite_stat1', 'sqlite_stat4'))"
constexpr const char* kParts =
    "SELECT type || ' ' || name, coalesce(sql, '')" EPSILOG_FROM_PARTS " ORDER BY type, name";
constexpr const char* kPartsAsMade =
    "SELECT type, name, tbl_name, coalesce(sql, '')" EPSILOG_FROM_PARTS " ORDER BY rowid";
#undef EPSILOG_FROM_PARTS

/// Where the quoted text that begins at `at` ends, behind its closing mark; `at` where none begins.
std::size_t end_of_quoted(const std::string& sql, std::size_t at) {
  const char mark = sql[at];
  if (mark != '\'' && mark != '"' && mark != '`' && mark != '[') return at;
  const std::size_t end = sql.find(mark == '[' ? ']' : mark, at + 1);  // a doubled mark begins another
  return end == std::string::npos ? sql.size() : end + 1;
}

/// Blanks and comments do not make another schema. Within quotes they are none.
std::string normalized(const std::string& sql) {
  std::string text;
  text.reserve(sql.size());
  for (std::size_t i = 0; i < sql.size();) {
    if (const std::size_t end = end_of_quoted(sql, i); end > i) {
      text.append(sql, i, end - i);
      i = end;
      continue;
    }
    const bool comment = sql.compare(i, 2, "--") == 0;
    if (comment) i = std::min(sql.find('\n', i), sql.size());
    const bool blank = comment || sql[i] == ' ' || sql[i] == '\n' || sql[i] == '\t' || sql[i] == '\r';
    if (!blank) {
      text += sql[i];
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
    ++i;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// Two parts of one name and type are told apart, as SQLite does not.
void add(Schema& schema, std::string name, const std::string& sql) {
  while (schema.contains(name)) name += " again";
  schema.emplace(std::move(name), normalized(sql));
}

}  // namespace

const std::string_view kShippedSchemaDigest =
    "5c927b24746dc7c37374905a88fa6384e74c0680c52319ed6b507ed847c0b126";

Schema read_schema(Connection& connection) {
  Query rows = connection.query(kParts);
  Schema schema;
  while (rows.step()) add(schema, rows.text(0), rows.text(1));
  return schema;
}

const Schema& shipped_schema() {
  static const Schema kShipped = [] {
    SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(kSchemaSql);
    SQLite::Statement rows(database, kParts);
    Schema schema;
    while (rows.executeStep()) add(schema, rows.getColumn(0).getString(), rows.getColumn(1).getString());
    return schema;
  }();
  return kShipped;
}

std::vector<std::string> schema_differences(const Schema& shipped, const Schema& stored) {
  std::vector<std::string> found;
  for (const auto& [name, sql] : shipped) {
    const auto other = stored.find(name);
    if (other == stored.end()) {
      found.push_back(name + " is missing");
    } else if (other->second != sql) {
      found.push_back(name + " differs from the shipped schema");
    }
  }
  for (const auto& [name, sql] : stored) {
    if (!shipped.contains(name)) found.push_back(name + " is not part of the shipped schema");
  }
  return found;
}

std::string schema_digest(Connection& connection) {
  // BLAKE2b, because every process that writes waits for it and SHA-256 takes five times as long. Like that
  // one it needs no sodium_init().
  crypto_generichash_state state;
  std::array<unsigned char, crypto_generichash_BYTES> digest{};
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  const auto add_bytes = [&state](const std::string& text) {
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  };
  Query rows = connection.query(kPartsAsMade);
  while (rows.step()) {
    for (int column = 0; column < rows.columns(); ++column) {
      const std::string text = rows.text(column);
      add_bytes(std::to_string(text.size()) + ':');
      add_bytes(text);
    }
  }
  crypto_generichash_final(&state, digest.data(), digest.size());
  std::array<char, 2 * digest.size() + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  return hex.data();
}

void require_shipped_schema(Connection& connection, const std::string& database) {
  if (schema_digest(connection) == kShippedSchemaDigest) return;
  const std::vector<std::string> different = schema_differences(shipped_schema(), read_schema(connection));
  if (different.empty()) return;
  throw LedgerCorrupt(
      "ledger " + database + ": its schema is not the one this program ships: " + different.front() +
      (different.size() == 1 ? "" : ", and " + std::to_string(different.size() - 1) + " more") +
      ". Nothing was written; `epsilog audit verify` names every difference");
}

void SchemaWatch::require_shipped(Connection& connection, const std::string& database) {
  Query row = connection.query("PRAGMA schema_version");
  if (!row.step()) throw LedgerCorrupt("ledger " + database + ": SQLite does not tell the schema's version");
  const std::int64_t version = row.integer(0);
  if (seen_ == version) return;
  require_known_features(connection, database);  // a feature may have tables of its own
  require_shipped_schema(connection, database);
  seen_ = version;
}

}  // namespace epsilog::ledger
