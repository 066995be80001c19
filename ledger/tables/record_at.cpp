// Rows of every kind as the records they are.
#include <utility>

#include "credential_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "record_rows.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kPolicyAt = "SELECT " EPSILOG_POLICY_COLUMNS " FROM policy_version WHERE version = ?1";
constexpr const char* kRelocationAt =
    "SELECT seq, event, after_decision, dataset, path, at, by, why FROM relocation WHERE seq = ?1";
constexpr const char* kAccountAt =
    "SELECT id, dataset, scope, measure, \"limit\", opened_at FROM account WHERE id = ?1";
constexpr const char* kLimitChangeAt =
    "SELECT seq, after_decision, policy_version, account, old_limit, new_limit, at, by, why FROM limit_change"
    " WHERE seq = ?1";
constexpr const char* kLimitRemovalAt =
    "SELECT seq, after_decision, policy_version, account, at, by, why FROM limit_removal WHERE seq = ?1";
constexpr const char* kDecisionAt = EPSILOG_DECISION_COLUMNS "WHERE d.seq = ?1";
constexpr const char* kClockEventAt = "SELECT " EPSILOG_CLOCK_COLUMNS " FROM clock_event WHERE seq = ?1";
constexpr const char* kCredentialAt = EPSILOG_CREDENTIAL_COLUMNS " WHERE seq = ?1";
constexpr const char* kKeyAt = "SELECT seq, retired, verifier_key, at, by, why FROM key_event WHERE seq = ?1";
constexpr const char* kRecoveryAt =
    "SELECT seq, cause, restored_lines, dropped_lines, at, by, why, remembered_lines, found_lines"
    " FROM recovery WHERE seq = ?1";

constexpr const char* kSealAt = "SELECT seq, unsealed, at, by, why FROM seal_event WHERE seq = ?1";
constexpr const char* kFeatureAt = "SELECT number, name, at FROM feature WHERE number = ?1";

/// The row of that number, as `read` makes it of a query that stands on it.
template <class Read>
Record row_at(Connection& connection, const char* sql, std::int64_t number, Read read) {
  Query row = connection.query(sql);
  row.with(number);
  if (!row.step()) throw LedgerCorrupt("row " + std::to_string(number) + " of its table is not there");
  return read(row);
}

std::uint64_t count(std::int64_t value) {
  if (value < 0) throw LedgerCorrupt("a number of lines is negative");
  return static_cast<std::uint64_t>(value);
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

Record relocation_at(const Query& row) {
  return Relocation{.seq = row.integer(0),
                    .event = row.integer(1),
                    .after_decision = row.integer(2),
                    .dataset = row.text(3),
                    .path = row.text(4),
                    .at = row.time(5),
                    .by = row.text(6),
                    .why = row.text(7)};
}

Record limit_change_at(const Query& row) {
  return LimitChange{.seq = row.integer(0),
                     .after_decision = row.integer(1),
                     .policy_version = row.integer(2),
                     .account = row.integer(3),
                     .old_limit = row.integer(4),
                     .new_limit = row.integer(5),
                     .changed_at = row.time(6),
                     .by = row.text(7),
                     .why = row.text(8)};
}

Record limit_removal_at(const Query& row) {
  return LimitRemoval{.seq = row.integer(0),
                      .after_decision = row.integer(1),
                      .policy_version = row.integer(2),
                      .account = row.integer(3),
                      .removed_at = row.time(4),
                      .by = row.text(5),
                      .why = row.text(6)};
}

Record key_at(const Query& row) {
  return KeyEvent{.seq = row.integer(0),
                  .retired = stored_truth(row.integer(1), "column retired"),
                  .verifier_key = row.text(2),
                  .at = row.time(3),
                  .by = row.text(4),
                  .why = row.text(5)};
}

Record recovery_at(const Query& row) {
  return RecoveryEvent{.seq = row.integer(0),
                       .cause = row.text(1),
                       .restored = count(row.integer(2)),
                       .dropped = count(row.integer(3)),
                       .remembered = count(row.integer(7)),
                       .found = count(row.integer(8)),
                       .at = row.time(4),
                       .by = row.text(5),
                       .why = row.text(6)};
}

Record seal_at(const Query& row) {
  return SealEvent{.seq = row.integer(0),
                   .unsealed = stored_truth(row.integer(1), "column unsealed"),
                   .at = row.time(2),
                   .by = row.text(3),
                   .why = row.text(4)};
}

Record feature_at(const Query& row) {
  return FeatureRecord{.number = row.integer(0), .name = row.text(1), .at = row.time(2)};
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
      return row_at(connection, kRelocationAt, row, relocation_at);
    case static_cast<std::int64_t>(RecordKind::account):
      return account_at(connection, row);
    case static_cast<std::int64_t>(RecordKind::limit_change):
      return row_at(connection, kLimitChangeAt, row, limit_change_at);
    case static_cast<std::int64_t>(RecordKind::limit_removal):
      return row_at(connection, kLimitRemovalAt, row, limit_removal_at);
    case static_cast<std::int64_t>(RecordKind::plan):
      return *connection.shared_rows().plan(connection, row);
    case static_cast<std::int64_t>(RecordKind::decision):
      return row_at(connection, kDecisionAt, row,
                    [&](const Query& found) -> Record { return record_of_row(connection, found).record; });
    case static_cast<std::int64_t>(RecordKind::clock_event):
      return row_at(connection, kClockEventAt, row, clock_event_of_row);
    case static_cast<std::int64_t>(RecordKind::credential):
      return row_at(connection, kCredentialAt, row, credential_of_row);
    case static_cast<std::int64_t>(RecordKind::key):
      return row_at(connection, kKeyAt, row, key_at);
    case static_cast<std::int64_t>(RecordKind::recovery):
      return row_at(connection, kRecoveryAt, row, recovery_at);
    case static_cast<std::int64_t>(RecordKind::seal):
      return row_at(connection, kSealAt, row, seal_at);
    case static_cast<std::int64_t>(RecordKind::feature):
      return row_at(connection, kFeatureAt, row, feature_at);
    default:
      throw LedgerCorrupt("log has a line of kind " + std::to_string(kind) + ", which there is not");
  }
}

}  // namespace epsilog::ledger
