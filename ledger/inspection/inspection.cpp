#include "epsilog/ledger/inspection.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "history_rows.hpp"
#include "queries.hpp"
#include "schema_comparison.hpp"
#include "snapshot_state.hpp"

namespace epsilog::ledger {
namespace {

constexpr int kFaultsMax = 100;

/// The word for a number that outcomes are stored by, in SQL.
#define EPSILOG_OUTCOME_NAME(column)                                                                \
  "CASE " column                                                                                    \
  " WHEN 1 THEN 'granted' WHEN 2 THEN 'refused' WHEN 3 THEN 'reserved' WHEN 4 THEN 'pending'"       \
  " WHEN 5 THEN 'approved' WHEN 6 THEN 'rejected' WHEN 7 THEN 'data_accessed' WHEN 8 THEN 'voided'" \
  " WHEN 9 THEN 'forfeited' ELSE 'of no known outcome' END"

/// The first column of every row.
std::vector<std::string> texts(Connection& connection, const std::string& sql) {
  SQLite::Statement statement = connection.prepare(sql);
  Query rows(statement, connection.handle());
  std::vector<std::string> found;
  while (rows.step()) found.push_back(rows.text(0));
  return found;
}

/// All but how many there are.
Counts numbers(Connection& connection, const char* number, const std::string& table, std::int64_t claimed) {
  // Each a look-up of its own: SQLite goes through all rows for both at once.
  SQLite::Statement statement =
      connection.prepare(std::string("SELECT coalesce((SELECT min(") + number + ") FROM " + table +
                         "), 0), coalesce((SELECT max(" + number + ") FROM " + table + "), 0)");
  Query row(statement, connection.handle());
  EPSILOG_INVARIANT(row.step());
  return {.claimed = claimed, .rows = 0, .first = row.integer(0), .last = row.integer(1)};
}

const NumberedTable& table_of(RecordKind kind) {
  return *std::find_if(kNumberedTables.begin(), kNumberedTables.end(),
                       [kind](const NumberedTable& table) { return table.kind == kind; });
}

/// What facts() says, and of which tables it is counted.
struct CountedFacts {
  LedgerFacts facts;
  std::vector<std::pair<RecordKind, Counts LedgerFacts::*>> counts;
};

CountedFacts facts_but_counts(Connection& connection) {
  const Meta meta = read_meta(connection);
  CountedFacts found;
  found.facts.ledger_id = meta.ledger_id;
  found.facts.created_at = meta.created_at;
  found.facts.last_time = meta.last_time;
  const auto add = [&](Counts LedgerFacts::*counts, RecordKind kind, std::int64_t claimed) {
    const NumberedTable& table = table_of(kind);
    found.facts.*counts = numbers(connection, table.number, table.name, claimed);
    found.counts.emplace_back(kind, counts);
  };
  add(&LedgerFacts::decisions, RecordKind::decision, meta.decisions);
  add(&LedgerFacts::policy_versions, RecordKind::policy, meta.policy_versions);
  add(&LedgerFacts::limit_changes, RecordKind::limit_change, meta.limit_changes);
  add(&LedgerFacts::clock_events, RecordKind::clock_event, meta.clock_events);
  add(&LedgerFacts::accounts, RecordKind::account, meta.accounts);
  add(&LedgerFacts::limit_removals, RecordKind::limit_removal, meta.limit_removals);
  add(&LedgerFacts::relocations, RecordKind::relocation, meta.relocations);
  return found;
}

std::vector<OrderFault> faults(Connection& connection, const std::string& sql) {
  SQLite::Statement statement = connection.prepare(sql + " LIMIT " + std::to_string(kFaultsMax));
  Query rows(statement, connection.handle());
  std::vector<OrderFault> found;
  while (rows.step()) found.push_back({.seq = rows.integer(0), .message = rows.text(1)});
  return found;
}

std::vector<OrderFault> faults_of_events(Connection& connection) {
  return faults(
      connection,
      "WITH every(kind, number, event, after_decision, at) AS ("
      " SELECT 'policy version ', version, event, after_decision, applied_at FROM policy_version"
      " UNION ALL SELECT 'clock event ', seq, event, after_decision, ledger_time FROM clock_event"
      " UNION ALL SELECT 'relocation ', seq, event, after_decision, at FROM relocation),"
      " placed AS (SELECT *, kind || number AS name FROM every)"
      " SELECT event, CASE"
      " WHEN event <> before + 1 THEN name || ' is event ' || event || ' and follows event ' || before"
      " WHEN after_decision < after_before THEN name || ' stands before the event before it'"
      " ELSE name || ' is dated before the event before it' END"
      " FROM (SELECT *, lag(event, 1, 0) OVER w AS before, lag(after_decision, 1, 0) OVER w AS after_before,"
      " lag(at, 1, 0) OVER w AS time_before FROM placed WINDOW w AS (ORDER BY event))"
      " WHERE event <> before + 1 OR after_decision < after_before OR at < time_before"
      " UNION ALL SELECT event, kind || number || ' has not its place after the one of its kind before it'"
      " FROM (SELECT *, lag(event, 1, 0) OVER (PARTITION BY kind ORDER BY number) AS before FROM every)"
      " WHERE event < before"
      " UNION ALL SELECT event, name || ' is dated before decision ' || seq || ', which it came after'"
      " FROM placed JOIN decision ON seq = after_decision WHERE at < time"
      " UNION ALL SELECT event, name || ' is dated after decision ' || seq || ', which it came before'"
      " FROM placed JOIN decision ON seq = after_decision + 1 WHERE at > time"
      " UNION ALL SELECT events, 'meta counts ' || events || ' events, ' ||"
      " (SELECT count(*) FROM placed) || ' are there' FROM meta WHERE events <> (SELECT count(*) FROM "
      "placed)");
}

}  // namespace

std::vector<std::string> Inspection::schema_differences() {
  return snapshot_->state_->run_read([](Connection& connection) {
    return ledger::schema_differences(shipped_schema(), read_schema(connection));
  });
}

std::vector<std::string> Inspection::storage_faults(bool thorough) {
  return snapshot_->state_->run_read([&](Connection& connection) {
    std::vector<std::string> found =
        texts(connection, std::string("PRAGMA ") + (thorough ? "integrity_check" : "quick_check") + "(100)");
    if (found == std::vector<std::string>{"ok"}) found.clear();
    if (!found.empty()) connection.require_no_read_error();
    return found;
  });
}

std::vector<std::string> Inspection::reference_faults() {
  return snapshot_->state_->run_read([](Connection& connection) {
    return texts(connection,
                 "SELECT \"table\" || coalesce(' row ' || rowid, '') || ' refers to a missing row of ' ||"
                 " parent FROM pragma_foreign_key_check LIMIT 100");
  });
}

LedgerFacts Inspection::facts() {
  SnapshotState& state = *snapshot_->state_;
  return state.run_read([&state](Connection& connection) {
    CountedFacts found = facts_but_counts(connection);
    const std::function<void()> between_steps = [&state] { state.between_slices([] {}); };
    for (const auto& [kind, counts] : found.counts) {
      Counts& counted = found.facts.*counts;
      counted.rows = rows_up_to(connection, table_of(kind), counted.last, between_steps);
    }
    return found.facts;
  });
}

std::vector<OrderFault> Inspection::order_faults() {
  return snapshot_->state_->run_read([](Connection& connection) {
    std::vector<OrderFault> found = faults(
        connection,
        "SELECT seq, CASE"
        " WHEN seq <> before + 1 THEN 'decision ' || seq || ' follows decision ' || before"
        " WHEN id <= id_before THEN 'decision ' || seq || ' has an id below that of the one before it'"
        " ELSE 'decision ' || seq || ' is dated before the one before it' END"
        " FROM (SELECT seq, id, time, lag(seq, 1, 0) OVER w AS before, lag(id, 1, x'') OVER w AS id_before,"
        " lag(time, 1, 0) OVER w AS time_before FROM decision WINDOW w AS (ORDER BY seq))"
        " WHERE seq <> before + 1 OR id <= id_before OR time < time_before");
    const std::vector<OrderFault> of_clock = faults(
        connection,
        "SELECT after_decision, CASE"
        " WHEN seq <> before + 1 THEN 'clock event ' || seq || ' follows clock event ' || before"
        " WHEN after_decision < after_before THEN 'clock event ' || seq || ' stands before the one before it'"
        " ELSE 'clock event ' || seq || ' is dated before the one before it' END"
        " FROM (SELECT seq, after_decision, ledger_time, lag(seq, 1, 0) OVER w AS before,"
        " lag(after_decision, 1, 0) OVER w AS after_before, lag(ledger_time, 1, 0) OVER w AS time_before"
        " FROM clock_event WINDOW w AS (ORDER BY seq))"
        " WHERE seq <> before + 1 OR after_decision < after_before OR ledger_time < time_before");
    found.insert(found.end(), of_clock.begin(), of_clock.end());
    const std::vector<OrderFault> of_events = faults_of_events(connection);
    found.insert(found.end(), of_events.begin(), of_events.end());
    return found;
  });
}

std::vector<OrderFault> Inspection::event_faults() {
  return snapshot_->state_->run_read([](Connection& connection) { return faults_of_events(connection); });
}

std::vector<OrderFault> Inspection::completeness_faults() {
  return snapshot_->state_->run_read([](Connection& connection) {
    return faults(
        connection,
        "SELECT seq, 'decision ' || seq || ' was ' || " EPSILOG_OUTCOME_NAME("outcome") " ||"
        " CASE WHEN has_charge THEN ', has charges' ELSE ', has no charge' END ||"
        " CASE WHEN has_release THEN ' and a release' ELSE ' and no release' END"
        " FROM (SELECT seq, outcome, EXISTS(SELECT 1 FROM movement AS m WHERE m.seq = d.seq"
        " AND (m.spent_change <> 0 OR m.reserved_change > 0)) AS has_charge,"
        " EXISTS(SELECT 1 FROM plan WHERE number = d.plan AND release <> '' AND d.\"values\" <> '') AS has_release"
        " FROM decision AS d)"
        " WHERE has_charge <> (outcome IN (1, 3, 9)) OR (has_release <> (outcome = 1)) ORDER BY seq");
  });
}

std::vector<OrderFault> Inspection::lifecycle_faults() {
  return snapshot_->state_->run_read([](Connection& connection) {
    // `child` is what is about another decision, `earlier` another child of the same parent.
    return faults(
        connection,
        "SELECT seq, 'decision ' || seq || message FROM ("
        " SELECT child.seq AS seq, CASE"
        " WHEN parent.seq IS NULL OR parent.seq >= child.seq THEN ' is about a decision that does not precede "
        "it'"
        " WHEN parent.dataset <> child.dataset OR parent.policy_version <> child.policy_version"
        " THEN ' has another dataset or policy version than the one it is about'"
        " WHEN NOT CASE parent.outcome WHEN 4 THEN child.outcome IN (5, 6, 8, 2, 3)"
        " WHEN 3 THEN child.outcome IN (1, 8, 9, 7) ELSE 0 END"
        " THEN ' was ' || " EPSILOG_OUTCOME_NAME("child.outcome") " || ' about one that was ' || "
        EPSILOG_OUTCOME_NAME("parent.outcome")
        " WHEN EXISTS(SELECT 1 FROM decision AS earlier WHERE earlier.parent = child.parent"
        " AND earlier.parent > 0 AND earlier.seq < child.seq AND earlier.outcome NOT IN (5, 7))"
        " THEN ' is about one that was resolved before'"
        " WHEN child.outcome IN (5, 6) AND EXISTS(SELECT 1 FROM decision AS earlier"
        " WHERE earlier.parent = child.parent AND earlier.parent > 0 AND earlier.seq < child.seq"
        " AND earlier.principal = child.principal AND earlier.outcome = 5)"
        " THEN ' is the second vote of its principal'"
        " WHEN child.outcome IN (8, 7) AND EXISTS(SELECT 1 FROM decision AS earlier"
        " WHERE earlier.parent = child.parent AND earlier.parent > 0 AND earlier.seq < child.seq"
        " AND earlier.outcome = 7) THEN ' was ' || " EPSILOG_OUTCOME_NAME("child.outcome")
        " || ' after a token was issued'"
        " WHEN child.outcome IN (1, 9) AND EXISTS("
        "SELECT account, spent_change, reserved_change FROM movement WHERE seq = child.seq AND"
        " (spent_change <> 0 OR reserved_change <> 0)"
        " EXCEPT SELECT account, reserved_change, -reserved_change FROM movement WHERE seq = parent.seq AND"
        " reserved_change <> 0"
        " UNION ALL SELECT * FROM (SELECT account, reserved_change, -reserved_change FROM movement"
        " WHERE seq = parent.seq AND reserved_change <> 0"
        " EXCEPT SELECT account, spent_change, reserved_change FROM movement WHERE seq = child.seq AND"
        " (spent_change <> 0 OR reserved_change <> 0)))"
        " THEN ' has other charges than the one it is about'"
        " WHEN child.outcome = 8 AND parent.outcome = 3 AND EXISTS("
        "SELECT account, spent_change, reserved_change FROM movement WHERE seq = child.seq AND"
        " (spent_change <> 0 OR reserved_change <> 0)"
        " EXCEPT SELECT account, 0, -reserved_change FROM movement WHERE seq = parent.seq AND"
        " reserved_change <> 0"
        " UNION ALL SELECT * FROM (SELECT account, 0, -reserved_change FROM movement"
        " WHERE seq = parent.seq AND reserved_change <> 0"
        " EXCEPT SELECT account, spent_change, reserved_change FROM movement WHERE seq = child.seq AND"
        " (spent_change <> 0 OR reserved_change <> 0)))"
        " THEN ' gives back other amounts than the one it is about reserved'"
        " END AS message FROM decision AS child LEFT JOIN decision AS parent ON parent.seq = child.parent"
        " WHERE child.parent > 0"
        " UNION ALL"
        " SELECT d.seq, CASE WHEN o.seq IS NULL THEN ' is open and not listed as such'"
        " ELSE ' is listed as open with another deadline' END"
        " FROM decision AS d LEFT JOIN open_decision AS o ON o.seq = d.seq"
        " WHERE d.outcome IN (3, 4) AND o.deadline IS NOT d.deadline"
        " AND NOT EXISTS(SELECT 1 FROM decision AS child WHERE child.parent = d.seq AND child.parent > 0"
        " AND child.outcome NOT IN (5, 7))"
        " UNION ALL"
        " SELECT d.seq, ' is listed as open and is not' FROM open_decision AS o JOIN decision AS d"
        " ON d.seq = o.seq WHERE d.outcome NOT IN (3, 4)"
        " OR EXISTS(SELECT 1 FROM decision AS child WHERE child.parent = d.seq AND child.parent > 0"
        " AND child.outcome NOT IN (5, 7))"
        ") WHERE message IS NOT NULL ORDER BY seq");
  });
}

std::vector<std::string> Inspection::clock_faults() {
  return snapshot_->state_->run_read([](Connection& connection) {
    const std::string held = held_by_events(connection);
    const std::string recorded = read_meta(connection).clock.held_at;
    if (recorded == held) return std::vector<std::string>{};
    const auto described = [](const std::string& time) {
      return time.empty() ? "not held" : "held at " + time;
    };
    return std::vector<std::string>{"the calendar is " + described(recorded) +
                                    ", by the clock events it is " + described(held)};
  });
}

std::vector<ChargeTotal> Inspection::charge_totals() {
  return snapshot_->state_->run_read([](Connection& connection) {
    // Split in two halves, because sum() fails when it leaves int64, and rows may have been tampered with.
    SQLite::Statement statement = connection.prepare(
        "SELECT account, count(*) FILTER (WHERE spent_change <> 0 OR reserved_change > 0),"
        " sum(spent_change >> 32), sum(spent_change & 4294967295),"
        " sum(reserved_change >> 32), sum(reserved_change & 4294967295)"
        " FROM movement GROUP BY account ORDER BY account");
    Query rows(statement, connection.handle());
    const auto whole = [&rows](int high) {
      if (rows.is_null(high)) return accounting::Integer(0);  // no charge of it belongs to a decision
      accounting::Integer sum(rows.integer(high));
      sum <<= 32;
      sum += accounting::Integer(rows.integer(high + 1));
      return sum;
    };
    std::vector<ChargeTotal> totals;
    while (rows.step()) {
      totals.push_back(
          {.account = rows.integer(0), .charges = rows.integer(1), .spent = whole(2), .reserved = whole(4)});
    }
    return totals;
  });
}

}  // namespace epsilog::ledger
