// What is read the same way inside a transaction and from a snapshot.
#pragma once

#include <cstdint>
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

/// Every decision with its release, if any, in the column order read_decision expects; a WHERE
/// clause follows.
#define EPSILOG_SELECT_DECISION                                                                             \
  "SELECT d.seq, d.id, d.created_at, d.principal, d.key, d.request_digest, d.request, d.dataset,"           \
  " d.policy_version, d.outcome, d.reasons, d.accounts, r.mechanism, r.arithmetic, r.requested, r.charged," \
  " r.adjusted, r.published, r.value, r.components, r.cells, r.post_processing, r.unit, r.relation,"        \
  " d.parent, d.deadline, d.rules, d.program_version, d.program_commit, d.decided_under"                    \
  " FROM decision AS d LEFT JOIN release AS r ON r.decision_id = d.id "

/// What policy_of_row expects.
#define EPSILOG_POLICY_COLUMNS \
  "version, yaml, sha256, base_dir, applied_at, applied_by, after_decision, event"

/// The children that leave a decision open, as SQL has it. A query for the others repeats the condition
/// of the index decision_resolves, or it would not be used.
#define EPSILOG_RESOLVES "parent <> '' AND outcome NOT IN ('approved', 'token_issued')"

/// All throw StorageFailure, and LedgerCorrupt naming the record that does not make sense.
[[nodiscard]] std::string read_ledger_id(Connection& connection);  ///< in every schema
[[nodiscard]] Meta read_meta(Connection& connection);
[[nodiscard]] PolicyVersion read_active_policy(Connection& connection);
[[nodiscard]] PolicyVersion policy_of_row(const Query& row);
/// `dataset` "" = all; ordered by (dataset, scope, measure).
[[nodiscard]] std::vector<AccountState> read_accounts(Connection& connection, const std::string& dataset);
/// None when there is no such account.
[[nodiscard]] std::optional<AccountState> find_account(Connection& connection, const AccountName& name);
[[nodiscard]] std::optional<AccountState> find_account(Connection& connection, std::int64_t id);
/// Those that exist, in the order of `names`.
[[nodiscard]] std::vector<AccountState> find_accounts(Connection& connection,
                                                      std::span<const AccountName> names);
/// The row a decision query stands on, with its charges.
[[nodiscard]] StoredDecision read_decision(Connection& connection, const Query& row);
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
