// Rows of every kind as the records they are.
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "record_rows.hpp"
#include "row_columns.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kPolicyAt = "SELECT " EPSILOG_POLICY_COLUMNS " FROM policy_version WHERE version = ?1";
constexpr const char* kAccountAt =
    "SELECT id, dataset, scope, measure, \"limit\", opened_at FROM account WHERE id = ?1";
constexpr const char* kDecisionAt = EPSILOG_DECISION_COLUMNS "WHERE d.seq = ?1";
constexpr const char* kClockEventAt = "SELECT " EPSILOG_CLOCK_COLUMNS " FROM clock_event WHERE seq = ?1";

/// The row of that number, as `read` makes it of a query that stands on it.
template <class Read>
Record row_at(Connection& connection, const char* sql, std::int64_t number, Read read) {
  Query row = connection.query(sql);
  row.with(number);
  if (!row.step()) throw LedgerCorrupt("row " + std::to_string(number) + " of its table is not there");
  return read(row);
}

/// The row of that number in a table with a list of columns.
template <class Row>
Record row_at(Connection& connection, std::int64_t number) {
  return row_at(connection, select_by_number<Row>(), number, record_of_columns<Row>);
}

Record ledger_record(Connection& connection) {
  const Meta meta = read_meta(connection);
  return LedgerRecord{.ledger_id = meta.ledger_id, .created_at = meta.created_at};
}

Record account_at(Connection& connection, std::int64_t id) {
  return row_at(connection, kAccountAt, id, [&](const Query& row) -> Record {
    return AccountRecord{.id = row.integer(0),
                         .name = {.dataset = row.text(1), .scope = row.text(2), .measure = row.text(3)},
                         .limit = opening_limit(connection, id, row.integer(4)),
                         .opened_at = row.time(5)};
  });
}

Record policy_at(Connection& connection, std::int64_t version, bool place) {
  return row_at(connection, kPolicyAt, version, [&](const Query& row) -> Record {
    PolicyVersion policy = policy_of_row(row);
    if (place) {
      return PolicyLocation{
          .version = policy.version, .base_dir = policy.base_dir, .applied_at = policy.applied_at};
    }
    std::string implies = policy.implies;
    return PolicyRecord{.version = std::move(policy), .implies = std::move(implies)};
  });
}

}  // namespace

Record record_at(Connection& connection, std::int64_t kind, std::int64_t row) {
  switch (kind) {
    case static_cast<std::int64_t>(RecordKind::ledger):
      return ledger_record(connection);
    case static_cast<std::int64_t>(RecordKind::policy):
      return policy_at(connection, row, false);
    case static_cast<std::int64_t>(RecordKind::policy_location):
      return policy_at(connection, row, true);
    case static_cast<std::int64_t>(RecordKind::relocation):
      return row_at<Relocation>(connection, row);
    case static_cast<std::int64_t>(RecordKind::account):
      return account_at(connection, row);
    case static_cast<std::int64_t>(RecordKind::limit_change):
      return row_at<LimitChange>(connection, row);
    case static_cast<std::int64_t>(RecordKind::limit_removal):
      return row_at<LimitRemoval>(connection, row);
    case static_cast<std::int64_t>(RecordKind::plan):
      return *connection.shared_rows().plan(connection, row);
    case static_cast<std::int64_t>(RecordKind::decision):
      return row_at(connection, kDecisionAt, row,
                    [&](const Query& found) -> Record { return record_of_row(connection, found).record; });
    case static_cast<std::int64_t>(RecordKind::clock_event):
      return row_at(connection, kClockEventAt, row, clock_event_of_row);
    case static_cast<std::int64_t>(RecordKind::credential):
      return row_at<CredentialEvent>(connection, row);
    case static_cast<std::int64_t>(RecordKind::key):
      return row_at<KeyEvent>(connection, row);
    case static_cast<std::int64_t>(RecordKind::recovery):
      return row_at<RecoveryEvent>(connection, row);
    case static_cast<std::int64_t>(RecordKind::seal):
      return row_at<SealEvent>(connection, row);
    case static_cast<std::int64_t>(RecordKind::feature):
      return row_at<FeatureRecord>(connection, row);
    default:
      throw LedgerCorrupt("log has a line of kind " + std::to_string(kind) + ", which there is not");
  }
}

}  // namespace epsilog::ledger
