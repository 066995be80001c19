#include "epsilog/ledger/inspection.hpp"

#include <sqlite3.h>

#include <map>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "queries.hpp"
#include "schema.hpp"
#include "snapshot_state.hpp"

namespace epsilog::ledger {
namespace {

constexpr int kFaultsMax = 100;

/// Blanks and comments do not make another schema.
std::string normalized(const std::string& sql) {
  std::string text;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql.compare(i, 2, "--") == 0) {
      while (i < sql.size() && sql[i] != '\n') ++i;
    }
    const bool blank = i >= sql.size() || sql[i] == ' ' || sql[i] == '\n' || sql[i] == '\t' || sql[i] == '\r';
    if (!blank) {
      text += sql[i];
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

using Schema = std::map<std::string, std::string>;  // "table charge" -> normalized SQL

Schema read_schema(SQLite::Database& database) {
  Schema schema;
  SQLite::Statement rows(database,
                         "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master"
                         " WHERE name NOT LIKE 'sqlite_stat%'");
  while (rows.executeStep())
    schema[rows.getColumn(0).getString()] = normalized(rows.getColumn(1).getString());
  return schema;
}

/// What SQLite makes of the shipped text, so that both sides passed through the same parser.
Schema shipped_schema() {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(kSchemaSql);
  return read_schema(database);
}

std::vector<std::string> differences(const Schema& shipped, const Schema& stored) {
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

/// The first column of every row.
std::vector<std::string> texts(Connection& connection, const std::string& sql) {
  SQLite::Statement statement = connection.prepare(sql);
  Query rows(statement, connection.handle());
  std::vector<std::string> found;
  while (rows.step()) found.push_back(rows.text(0));
  return found;
}

Counts counts(Connection& connection, const std::string& number, const std::string& table,
              std::int64_t claimed) {
  SQLite::Statement statement = connection.prepare("SELECT count(*), coalesce(min(" + number +
                                                   "), 0), coalesce(max(" + number + "), 0) FROM " + table);
  Query row(statement, connection.handle());
  EPSILOG_INVARIANT(row.step());
  return {.claimed = claimed, .rows = row.integer(0), .first = row.integer(1), .last = row.integer(2)};
}

std::vector<OrderFault> faults(Connection& connection, const std::string& sql) {
  SQLite::Statement statement = connection.prepare(sql + " LIMIT " + std::to_string(kFaultsMax));
  Query rows(statement, connection.handle());
  std::vector<OrderFault> found;
  while (rows.step()) found.push_back({.seq = rows.integer(0), .message = rows.text(1)});
  return found;
}

}  // namespace

std::vector<std::string> Inspection::schema_differences() {
  return snapshot_->state_->reading([](Connection& connection) {
    SQLite::Statement statement = connection.prepare(
        "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master"
        " WHERE name NOT LIKE 'sqlite_stat%'");
    Query rows(statement, connection.handle());
    Schema stored;
    while (rows.step()) stored[rows.text(0)] = normalized(rows.text(1));
    return differences(shipped_schema(), stored);
  });
}

std::vector<std::string> Inspection::storage_faults(bool thorough) {
  return snapshot_->state_->reading([&](Connection& connection) {
    std::vector<std::string> found =
        texts(connection, std::string("PRAGMA ") + (thorough ? "integrity_check" : "quick_check") + "(100)");
    if (found == std::vector<std::string>{"ok"}) found.clear();
    return found;
  });
}

std::vector<std::string> Inspection::reference_faults() {
  return snapshot_->state_->reading([](Connection& connection) {
    return texts(connection,
                 "SELECT \"table\" || coalesce(' row ' || rowid, '') || ' refers to a missing row of ' ||"
                 " parent FROM pragma_foreign_key_check LIMIT 100");
  });
}

LedgerFacts Inspection::facts() {
  return snapshot_->state_->reading([](Connection& connection) {
    const Meta meta = read_meta(connection);
    return LedgerFacts{
        .ledger_id = meta.ledger_id,
        .created_at = meta.created_at,
        .last_time = meta.last_time,
        .decisions = counts(connection, "seq", "decision", meta.decisions),
        .policy_versions = counts(connection, "version", "policy_version", meta.policy_versions),
        .limit_changes = counts(connection, "seq", "limit_change", meta.limit_changes)};
  });
}

std::vector<OrderFault> Inspection::order_faults() {
  return snapshot_->state_->reading([](Connection& connection) {
    return faults(
        connection,
        "SELECT seq, CASE"
        " WHEN seq <> before + 1 THEN 'decision ' || seq || ' follows decision ' || before"
        " WHEN id <= id_before THEN 'decision ' || seq || ' has an id below that of the one before it'"
        " ELSE 'decision ' || seq || ' is dated before the one before it' END"
        " FROM (SELECT seq, id, created_at, lag(seq, 1, 0) OVER w AS before, lag(id, 1, '') OVER w AS "
        "id_before,"
        " lag(created_at, 1, '') OVER w AS time_before FROM decision WINDOW w AS (ORDER BY seq))"
        " WHERE seq <> before + 1 OR id <= id_before OR created_at < time_before");
  });
}

std::vector<OrderFault> Inspection::completeness_faults() {
  return snapshot_->state_->reading([](Connection& connection) {
    return faults(
        connection,
        "SELECT seq, 'decision ' || seq || ' was ' || outcome ||"
        " CASE WHEN has_charge THEN ', has charges' ELSE ', has no charge' END ||"
        " CASE WHEN has_release THEN ' and a release' ELSE ' and no release' END"
        " FROM (SELECT seq, outcome, EXISTS(SELECT 1 FROM charge WHERE decision_id = d.id) AS has_charge,"
        " EXISTS(SELECT 1 FROM release WHERE decision_id = d.id) AS has_release FROM decision AS d)"
        " WHERE has_charge <> (outcome = 'granted') OR has_release <> (outcome = 'granted') ORDER BY seq");
  });
}

std::vector<ChargeTotal> Inspection::charge_totals() {
  return snapshot_->state_->reading([](Connection& connection) {
    // Split in two halves, because sum() fails when it leaves int64, and rows may have been tampered with.
    SQLite::Statement statement = connection.prepare(
        "SELECT account_id, count(*), sum(amount >> 32), sum(amount & 4294967295)"
        " FROM charge GROUP BY account_id ORDER BY account_id");
    Query rows(statement, connection.handle());
    std::vector<ChargeTotal> totals;
    while (rows.step()) {
      ChargeTotal total{.account = rows.integer(0),
                        .charges = rows.integer(1),
                        .sum = accounting::Integer(rows.integer(2))};
      total.sum <<= 32;
      total.sum += accounting::Integer(rows.integer(3));
      totals.push_back(std::move(total));
    }
    return totals;
  });
}

}  // namespace epsilog::ledger
