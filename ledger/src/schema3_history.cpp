// Histories of a ledger of schema 3 (schema3.hpp).
#include "schema3.hpp"

namespace epsilog::ledger::schema3 {
namespace {

template <class Row, class Read>
std::vector<Row> rows_of(Connection& connection, const char* sql, Read read) {
  std::vector<Row> rows;
  Query row = connection.query(sql);
  while (row.step()) rows.push_back(read(row));
  return rows;
}

}  // namespace

std::vector<PolicyVersion> policy_versions(Connection& connection) {
  return rows_of<PolicyVersion>(
      connection,
      "SELECT version, yaml, sha256, base_dir, applied_at, applied_by, after_decision, event"
      " FROM policy_version ORDER BY version",
      [](const Query& row) -> PolicyVersion {
        return {.version = row.integer(0),
                .yaml = row.text(1),
                .sha256 = row.text(2),
                .base_dir = row.text(3),
                .applied_at = row.text(4),
                .applied_by = row.text(5),
                .after_decision = row.integer(6),
                .event = row.integer(7)};
      });
}

std::vector<LimitChange> limit_changes(Connection& connection) {
  return rows_of<LimitChange>(
      connection,
      "SELECT seq, after_decision, policy_version, account_id, old_limit, new_limit, changed_at, by, why"
      " FROM limit_change ORDER BY seq",
      [](const Query& row) -> LimitChange {
        return {.seq = row.integer(0),
                .after_decision = row.integer(1),
                .policy_version = row.integer(2),
                .account = row.integer(3),
                .old_limit = row.integer(4),
                .new_limit = row.integer(5),
                .changed_at = row.text(6),
                .by = row.text(7),
                .why = row.text(8)};
      });
}

std::vector<LimitRemoval> limit_removals(Connection& connection) {
  return rows_of<LimitRemoval>(connection,
                               "SELECT seq, after_decision, policy_version, account_id, removed_at, by, why"
                               " FROM limit_removal ORDER BY seq",
                               [](const Query& row) -> LimitRemoval {
                                 return {.seq = row.integer(0),
                                         .after_decision = row.integer(1),
                                         .policy_version = row.integer(2),
                                         .account = row.integer(3),
                                         .removed_at = row.text(4),
                                         .by = row.text(5),
                                         .why = row.text(6)};
                               });
}

std::vector<ClockEvent> clock_events(Connection& connection) {
  return rows_of<ClockEvent>(
      connection,
      "SELECT seq, after_decision, kind, ledger_time, wall_clock, by, event FROM clock_event ORDER BY seq",
      [](const Query& row) -> ClockEvent {
        return {.seq = row.integer(0),
                .after_decision = row.integer(1),
                .kind = row.text(2),
                .ledger_time = row.text(3),
                .wall_clock = row.text(4),
                .by = row.text(5),
                .event = row.integer(6)};
      });
}

std::vector<SchemaMigration> migrations(Connection& connection) {
  return rows_of<SchemaMigration>(
      connection, "SELECT version, after_decision, at, event FROM schema_migration ORDER BY version",
      [](const Query& row) -> SchemaMigration {
        return {.version = row.integer(0),
                .after_decision = row.integer(1),
                .at = row.text(2),
                .event = row.integer(3)};
      });
}

std::vector<Relocation> relocations(Connection& connection) {
  return rows_of<Relocation>(
      connection,
      "SELECT seq, event, after_decision, dataset, path, at, by, why FROM relocation ORDER BY seq",
      [](const Query& row) -> Relocation {
        return {.seq = row.integer(0),
                .event = row.integer(1),
                .after_decision = row.integer(2),
                .dataset = row.text(3),
                .path = row.text(4),
                .at = row.text(5),
                .by = row.text(6),
                .why = row.text(7)};
      });
}

void each_decision(Connection& connection, const std::function<void(const StoredDecision&)>& visit) {
  SQLite::Statement statement =
      connection.prepare(EPSILOG_SCHEMA3_DECISION_COLUMNS EPSILOG_SCHEMA3_FROM_DECISION "ORDER BY d.seq");
  Query rows(statement, connection.handle());
  while (rows.step()) visit(read_decision(connection, rows));
}

}  // namespace epsilog::ledger::schema3
