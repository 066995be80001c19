// Numbers, order and lifecycles of a ledger of schema 3.
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "schema3.hpp"
#include "schema3_faults.hpp"

namespace epsilog::ledger::schema3 {
namespace {

constexpr int kFaultsMax = 100;

/// The first column of every row.
std::vector<std::string> texts(Connection& connection, const std::string& sql) {
  SQLite::Statement statement = connection.prepare(sql);
  Query rows(statement, connection.handle());
  std::vector<std::string> found;
  while (rows.step()) found.push_back(rows.text(0));
  return found;
}

std::vector<OrderFault> faults(Connection& connection, const std::string& sql) {
  SQLite::Statement statement = connection.prepare(sql + " LIMIT " + std::to_string(kFaultsMax));
  Query rows(statement, connection.handle());
  std::vector<OrderFault> found;
  while (rows.step()) found.push_back({.seq = rows.integer(0), .message = rows.text(1)});
  return found;
}

/// Rows of schema 2 have no place among the events, and come before all that have one.
std::vector<OrderFault> faults_of_events(Connection& connection) {
  return faults(
      connection,
      "WITH every(kind, number, event, after_decision, at) AS ("
      " SELECT 'policy version ', version, event, after_decision, applied_at FROM policy_version"
      " UNION ALL SELECT 'clock event ', seq, event, after_decision, ledger_time FROM clock_event"
      " UNION ALL SELECT 'schema migration ', version, event, after_decision, at FROM schema_migration"
      " UNION ALL SELECT 'relocation ', seq, event, after_decision, at FROM relocation),"
      " placed AS (SELECT *, kind || number AS name FROM every WHERE event > 0)"
      " SELECT event, CASE"
      " WHEN event <> before + 1 THEN name || ' is event ' || event || ' and follows event ' || before"
      " WHEN after_decision < after_before THEN name || ' stands before the event before it'"
      " ELSE name || ' is dated before the event before it' END"
      " FROM (SELECT *, lag(event, 1, 0) OVER w AS before, lag(after_decision, 1, 0) OVER w AS after_before,"
      " lag(at, 1, '') OVER w AS time_before FROM placed WINDOW w AS (ORDER BY event))"
      " WHERE event <> before + 1 OR after_decision < after_before OR at < time_before"
      " UNION ALL SELECT event, kind || number || ' has not its place after the one of its kind before it'"
      " FROM (SELECT *, lag(event, 1, 0) OVER (PARTITION BY kind ORDER BY number) AS before FROM every)"
      " WHERE event < before"
      " UNION ALL SELECT event, name || ' is dated before decision ' || seq || ', which it came after'"
      " FROM placed JOIN decision ON seq = after_decision WHERE at < created_at"
      " UNION ALL SELECT event, name || ' is dated after decision ' || seq || ', which it came before'"
      " FROM placed JOIN decision ON seq = after_decision + 1 WHERE at > created_at"
      " UNION ALL SELECT events, 'meta counts ' || events || ' events, ' ||"
      " (SELECT count(*) FROM placed) || ' are there' FROM meta WHERE events <> (SELECT count(*) FROM "
      "placed)");
}

}  // namespace

std::vector<OrderFault> order_faults(Connection& connection) {
  std::vector<OrderFault> found =
      faults(connection,
             "SELECT seq, CASE"
             " WHEN seq <> before + 1 THEN 'decision ' || seq || ' follows decision ' || before"
             " WHEN id <= id_before THEN 'decision ' || seq || ' has an id below that of the one before it'"
             " ELSE 'decision ' || seq || ' is dated before the one before it' END"
             " FROM (SELECT seq, id, created_at, lag(seq, 1, 0) OVER w AS before, lag(id, 1, '') OVER w AS "
             "id_before,"
             " lag(created_at, 1, '') OVER w AS time_before FROM decision WINDOW w AS (ORDER BY seq))"
             " WHERE seq <> before + 1 OR id <= id_before OR created_at < time_before");
  const std::vector<OrderFault> of_clock = faults(
      connection,
      "SELECT after_decision, CASE"
      " WHEN seq <> before + 1 THEN 'clock event ' || seq || ' follows clock event ' || before"
      " WHEN after_decision < after_before THEN 'clock event ' || seq || ' stands before the one before it'"
      " ELSE 'clock event ' || seq || ' is dated before the one before it' END"
      " FROM (SELECT seq, after_decision, ledger_time, lag(seq, 1, 0) OVER w AS before,"
      " lag(after_decision, 1, 0) OVER w AS after_before, lag(ledger_time, 1, '') OVER w AS time_before"
      " FROM clock_event WINDOW w AS (ORDER BY seq))"
      " WHERE seq <> before + 1 OR after_decision < after_before OR ledger_time < time_before");
  found.insert(found.end(), of_clock.begin(), of_clock.end());
  const std::vector<OrderFault> of_events = faults_of_events(connection);
  found.insert(found.end(), of_events.begin(), of_events.end());
  return found;
}

std::vector<OrderFault> completeness_faults(Connection& connection) {
  return faults(
      connection,
      "SELECT seq, 'decision ' || seq || ' was ' || outcome ||"
      " CASE WHEN has_charge THEN ', has charges' ELSE ', has no charge' END ||"
      " CASE WHEN has_release THEN ' and a release' ELSE ' and no release' END"
      " FROM (SELECT seq, outcome, EXISTS(SELECT 1 FROM charge WHERE decision_id = d.id) AS has_charge,"
      " EXISTS(SELECT 1 FROM release WHERE decision_id = d.id) AS has_release FROM decision AS d)"
      " WHERE has_charge <> (outcome IN ('granted', 'reserved', 'forfeited'))"
      " OR has_release <> (outcome = 'granted') ORDER BY seq");
}

std::vector<OrderFault> lifecycle_faults(Connection& connection) {
  // `child` is what is about another decision, `earlier` another child of the same parent.
  return faults(
      connection,
      "SELECT seq, 'decision ' || seq || message FROM ("
      " SELECT child.seq AS seq, CASE"
      " WHEN parent.id IS NULL OR parent.seq >= child.seq THEN ' is about a decision that does not precede "
      "it'"
      " WHEN parent.dataset <> child.dataset OR parent.policy_version <> child.policy_version"
      " THEN ' has another dataset or policy version than the one it is about'"
      " WHEN NOT CASE parent.outcome"
      " WHEN 'pending' THEN child.outcome IN ('approved', 'rejected', 'voided', 'refused', 'reserved')"
      " WHEN 'reserved' THEN child.outcome IN ('granted', 'voided', 'forfeited', 'token_issued')"
      " ELSE 0 END THEN ' was ' || child.outcome || ' about one that was ' || parent.outcome"
      " WHEN EXISTS(SELECT 1 FROM decision AS earlier WHERE earlier.parent = child.parent"
      " AND earlier.parent <> '' AND earlier.seq < child.seq"
      " AND earlier.outcome NOT IN ('approved', 'token_issued')) THEN ' is about one that was resolved "
      "before'"
      " WHEN child.outcome IN ('approved', 'rejected') AND EXISTS(SELECT 1 FROM decision AS earlier"
      " WHERE earlier.parent = child.parent AND earlier.parent <> '' AND earlier.seq < child.seq"
      " AND earlier.principal = child.principal AND earlier.outcome = 'approved')"
      " THEN ' is the second vote of its principal'"
      " WHEN child.outcome IN ('voided', 'token_issued') AND EXISTS(SELECT 1 FROM decision AS earlier"
      " WHERE earlier.parent = child.parent AND earlier.parent <> '' AND earlier.seq < child.seq"
      " AND earlier.outcome = 'token_issued') THEN ' was ' || child.outcome || ' after a token was issued'"
      " WHEN child.outcome IN ('granted', 'forfeited') AND EXISTS("
      "SELECT account_id, amount FROM charge WHERE decision_id = child.id"
      " EXCEPT SELECT account_id, amount FROM charge WHERE decision_id = parent.id"
      " UNION ALL SELECT * FROM (SELECT account_id, amount FROM charge WHERE decision_id = parent.id"
      " EXCEPT SELECT account_id, amount FROM charge WHERE decision_id = child.id))"
      " THEN ' has other charges than the one it is about'"
      " END AS message FROM decision AS child LEFT JOIN decision AS parent ON parent.id = child.parent"
      " WHERE child.parent <> ''"
      " UNION ALL"
      " SELECT d.seq, CASE WHEN o.decision_id IS NULL THEN ' is open and not listed as such'"
      " ELSE ' is listed as open with another deadline' END"
      " FROM decision AS d LEFT JOIN open_decision AS o ON o.decision_id = d.id"
      " WHERE d.outcome IN ('reserved', 'pending') AND o.deadline IS NOT d.deadline"
      " AND NOT EXISTS(SELECT 1 FROM decision AS child WHERE child.parent = d.id AND child.parent <> ''"
      " AND child.outcome NOT IN ('approved', 'token_issued'))"
      " UNION ALL"
      " SELECT d.seq, ' is listed as open and is not' FROM open_decision AS o JOIN decision AS d"
      " ON d.id = o.decision_id WHERE d.outcome NOT IN ('reserved', 'pending')"
      " OR EXISTS(SELECT 1 FROM decision AS child WHERE child.parent = d.id AND child.parent <> ''"
      " AND child.outcome NOT IN ('approved', 'token_issued'))"
      ") WHERE message IS NOT NULL ORDER BY seq");
}

std::vector<std::string> storage_faults(Connection& connection) {
  std::vector<std::string> found = texts(connection, "PRAGMA quick_check(100)");
  if (found == std::vector<std::string>{"ok"}) found.clear();
  return found;
}

std::vector<std::string> reference_faults(Connection& connection) {
  return texts(
      connection,
      "SELECT \"table\" || coalesce(' row ' || rowid, '') || ' refers to a missing row of ' || parent"
      " FROM pragma_foreign_key_check LIMIT 100");
}

}  // namespace epsilog::ledger::schema3
