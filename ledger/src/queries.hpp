// What is read the same way inside a transaction and from a snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// What meta keeps of the clocks (ledger_clock.hpp).
struct ClockState {
  std::string wall_clock;        ///< at the last write; "" in a ledger just migrated
  std::string boot_id;           ///< of the boot of the last write; "" unknown
  std::int64_t boot_offset = 0;  ///< what is added to CLOCK_BOOTTIME in that boot, in milliseconds
  std::string held_at;           ///< where the calendar stands; "" = it is not held
};

/// The one row of meta.
struct Meta {
  std::string ledger_id;
  std::string created_at;
  std::string last_time;
  std::int64_t decisions = 0;
  std::int64_t policy_versions = 0;
  std::int64_t limit_changes = 0;
  std::int64_t clock_events = 0;
  std::int64_t schema_migrations = 0;
  std::int64_t accounts = 0;
  std::int64_t limit_removals = 0;
  std::int64_t relocations = 0;
  std::int64_t events = 0;  ///< of every kind (schema 0003)
  ClockState clock;
};

/// Every decision with its release, if any, in the column order read_decision expects; a WHERE clause
/// follows. The release is found by an index and then read from its row (r), so that no column is shown as
/// the index has it; likewise whoever looks for a decision by an index reads it as the row `seq`.
#define EPSILOG_DECISION_COLUMNS                                                                            \
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
#define EPSILOG_FROM_DECISION                                          \
  " FROM decision AS d LEFT JOIN release AS i ON i.decision_id = d.id" \
  " LEFT JOIN release AS r ON r.rowid = i.rowid "
#define EPSILOG_SELECT_DECISION EPSILOG_DECISION_COLUMNS EPSILOG_FROM_DECISION

/// What policy_of_row expects.
#define EPSILOG_POLICY_COLUMNS \
  "version, yaml, sha256, base_dir, applied_at, applied_by, after_decision, event"

/// The children that leave a decision open, as SQL has it. A query for the others repeats the condition
/// of the index decision_resolves, or it would not be used.
#define EPSILOG_RESOLVES "parent <> '' AND outcome NOT IN ('approved', 'token_issued')"

/// All throw StorageFailure, and LedgerCorrupt naming the record that does not make sense.
[[nodiscard]] std::string read_ledger_id(Connection& connection);  ///< in every schema
[[nodiscard]] Meta read_meta(Connection& connection);
/// The number of the last one, which has to be `expected`.
[[nodiscard]] std::int64_t read_active_version(Connection& connection, std::int64_t expected);
/// That one, which has to have its digest.
[[nodiscard]] PolicyVersion read_active_policy(Connection& connection, std::int64_t expected);
/// As stored, whatever its digest.
[[nodiscard]] PolicyVersion policy_of_row(const Query& row);
/// As Transaction::location().
[[nodiscard]] std::optional<std::string> read_location(Connection& connection, const std::string& dataset);
/// Where the calendar is held by the clock events; "" = it is not.
[[nodiscard]] std::string held_by_events(Connection& connection);
/// The last time that something was recorded at.
[[nodiscard]] std::string last_recorded_time(Connection& connection);
/// `dataset` "" = all; ordered by (dataset, scope, measure).
[[nodiscard]] std::vector<AccountState> read_accounts(Connection& connection, const std::string& dataset);
/// None when there is no such account.
[[nodiscard]] std::optional<AccountState> find_account(Connection& connection, const AccountName& name);
[[nodiscard]] std::optional<AccountState> find_account(Connection& connection, std::int64_t id);
/// Those that exist, in the order of `names`.
[[nodiscard]] std::vector<AccountState> find_accounts(Connection& connection,
                                                      std::span<const AccountName> names);
/// Every row as it is, by id, whatever its checksum; `sound` says whether that is right.
void each_account_as_stored(Connection& connection,
                            const std::function<void(const AccountState& account, bool sound)>& visit);
/// The row a decision query stands on, with its charges.
/// Throws  LedgerCorrupt also where its values do not follow from its components, unless `as_stored`.
enum class Reading { checked, as_stored };
[[nodiscard]] StoredDecision read_decision(Connection& connection, const Query& row,
                                           Reading reading = Reading::checked);
/// What a key that no index has is free by: each of two indices says so, in orders of their own.
[[nodiscard]] std::optional<StoredDecision> find_decision_by_key(Connection& connection,
                                                                 const std::string& principal,
                                                                 const std::string& key);
[[nodiscard]] std::optional<StoredDecision> find_decision_by_id(Connection& connection,
                                                                const std::string& id);
/// The open decisions whose deadline is not after `now`, in order of deadlines.
[[nodiscard]] std::vector<std::string> read_overdue(Connection& connection, const std::string& now);
/// The decisions about one, by seq.
[[nodiscard]] std::vector<StoredDecision> read_children(Connection& connection, const std::string& id);

}  // namespace epsilog::ledger
