// Reading ledgers of schema 3, which what is older becomes first: what a migration goes by, and what would
// keep it from migrating. Nothing here writes.
//
// Thread-safety: as the connection.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/record.hpp"
#include "queries.hpp"

namespace epsilog::ledger::schema3 {

/// Every decision with its release, if any, in the column order read_decision expects; a WHERE clause
/// follows. The release is found by an index and then read from its row (r), so that no column is shown as
/// the index has it; likewise whoever looks for a decision by an index reads it as the row `seq`.
#define EPSILOG_SCHEMA3_DECISION_COLUMNS                                                                    \
  "SELECT d.seq, d.id, d.created_at, d.principal, d.key, d.request_digest, d.request, d.dataset,"           \
  " d.policy_version, d.outcome, d.reasons, d.accounts, r.mechanism, r.arithmetic, r.requested, r.charged," \
  " r.adjusted, r.published, r.value, r.components, r.cells, r.post_processing, r.unit, r.relation,"        \
  " d.parent, d.deadline, d.rules, d.program_version, d.program_commit, d.decided_under, r.decision_id"
enum class DecisionColumn : int {
  seq,
  id,
  created_at,
  principal,
  key,
  request_digest,
  request,
  dataset,
  policy_version,
  outcome,
  reasons,
  accounts,
  mechanism,
  arithmetic,
  requested,
  charged,
  adjusted,
  published,
  value,
  components,
  cells,
  post_processing,
  unit,
  relation,
  parent,
  deadline,
  rules,
  program_version,
  program_commit,
  decided_under,
  release_of,
};
#define EPSILOG_SCHEMA3_FROM_DECISION                                  \
  " FROM decision AS d LEFT JOIN release AS i ON i.decision_id = d.id" \
  " LEFT JOIN release AS r ON r.rowid = i.rowid "

/// All throw StorageFailure, and LedgerCorrupt naming the record that does not make sense.
[[nodiscard]] Meta read_meta(Connection& connection);
[[nodiscard]] std::string held_by_events(Connection& connection);
[[nodiscard]] std::string last_recorded_time(Connection& connection);
/// Every row as it is, by id, whatever its checksum; `sound` says whether that is right.
void each_account_as_stored(Connection& connection,
                            const std::function<void(const AccountState& account, bool sound)>& visit);
/// The row of EPSILOG_SCHEMA3_DECISION_COLUMNS that a query stands on, with its charges.
[[nodiscard]] StoredDecision read_decision(Connection& connection, const Query& row);

/// Histories, by their numbers.
[[nodiscard]] std::vector<PolicyVersion> policy_versions(Connection& connection);
[[nodiscard]] std::vector<LimitChange> limit_changes(Connection& connection);
[[nodiscard]] std::vector<LimitRemoval> limit_removals(Connection& connection);
[[nodiscard]] std::vector<ClockEvent> clock_events(Connection& connection);
[[nodiscard]] std::vector<SchemaMigration> migrations(Connection& connection);
[[nodiscard]] std::vector<Relocation> relocations(Connection& connection);
/// Every decision by seq. Throws  UnreadableRow.
void each_decision(Connection& connection, const std::function<void(const StoredDecision&)>& visit);

/// What the file says twice and not alike, and what no later schema would show any more: storage, references,
/// numbers, order, what is about what, texts. What the content means is for an audit of the ledger that is
/// made of it.
[[nodiscard]] std::vector<StoredFault> faults(Connection& connection);

}  // namespace epsilog::ledger::schema3
