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
#include "records.hpp"

namespace epsilog::ledger {

/// What meta keeps of the clocks (ledger_clock.hpp).
struct ClockState {
  std::string wall_clock;        ///< at the last write; "" in one just made of lines
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
  std::int64_t accounts = 0;
  std::int64_t limit_removals = 0;
  std::int64_t relocations = 0;
  std::int64_t events = 0;  ///< of every kind that is no decision
  std::int64_t names = 0;
  std::int64_t builds = 0;
  std::int64_t plans = 0;
  std::int64_t credential_events = 0;
  std::int64_t key_events = 0;
  std::int64_t recoveries = 0;
  std::int64_t seal_events = 0;
  std::int64_t features = 0;
  std::int64_t log_size = 0;      ///< lines
  std::int64_t replica_size = 0;  ///< of them known to be durable in a replica
  bool read_only = false;         ///< made from lines
  ClockState clock;
};

/// Every decision in the column order record_of_row expects; a WHERE clause follows. Who looks for a decision
/// by an index reads it as the row `seq`.
#define EPSILOG_DECISION_COLUMNS                                                                          \
  "SELECT d.seq, d.line_index, d.id, d.time, d.principal, d.via, d.key, d.parent, d.deadline, d.outcome," \
  " d.reasons, d.rules, d.build, d.policy_version, d.decided_under, d.dataset, d.plan, d.purpose,"        \
  " d.reservation, d.conflicting_key, d.verb, d.why, d.component_values, d.\"values\", d.data_token,"     \
  " d.data_token_sha256 FROM decision AS d "
enum class DecisionColumn : int {
  seq,
  line_index,
  id,
  time,
  principal,
  via,
  key,
  parent,
  deadline,
  outcome,
  reasons,
  rules,
  build,
  policy_version,
  decided_under,
  dataset,
  plan,
  purpose,
  reservation,
  conflicting_key,
  verb,
  why,
  component_values,
  values,
  data_token,
  data_token_sha256,
};

/// What policy_of_row expects.
#define EPSILOG_POLICY_COLUMNS \
  "version, yaml, sha256, base_dir, applied_at, applied_by, why, after_decision, event, implies"

/// What clock_event_of_row expects.
#define EPSILOG_CLOCK_COLUMNS "seq, after_decision, type, ledger_time, wall_clock, by, event"

/// The children that leave a decision open, as SQL has it. A query for the others repeats the condition
/// of the index decision_resolves, or it would not be used.
#define EPSILOG_RESOLVES "parent > 0 AND outcome NOT IN (5, 7)"

/// All throw StorageFailure, and LedgerCorrupt naming the record that does not make sense.
[[nodiscard]] std::string read_ledger_id(Connection& connection);  ///< 32 hexadecimal digits
[[nodiscard]] Meta read_meta(Connection& connection);
/// The number of the last one, which has to be `expected`.
[[nodiscard]] std::int64_t read_active_version(Connection& connection, std::int64_t expected);
/// That one, which has to have its digest.
[[nodiscard]] PolicyVersion read_active_policy(Connection& connection, std::int64_t expected);
/// As stored, whatever its digest.
[[nodiscard]] PolicyVersion policy_of_row(const Query& row);
/// Throws  LedgerCorrupt also of a kind that is not known.
[[nodiscard]] ClockEvent clock_event_of_row(const Query& row);
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
/// The opening limit of an account: what its first change of limit says it was, or what it is.
[[nodiscard]] std::int64_t opening_limit(Connection& connection, std::int64_t account, std::int64_t limit);
/// The open decisions whose deadline is not after `now`, in order of deadlines.
[[nodiscard]] std::vector<std::string> read_overdue(Connection& connection, const std::string& now);
}  // namespace epsilog::ledger
