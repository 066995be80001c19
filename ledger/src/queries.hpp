// What is read the same way inside a transaction and from a snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// The one row of meta.
struct Meta {
  std::string ledger_id;
  std::string created_at;
  std::string last_time;
  std::int64_t decisions = 0;
  std::int64_t policy_versions = 0;
  std::int64_t limit_changes = 0;
};

/// Every decision with its release, if any, in the column order read_decision expects; a WHERE
/// clause follows.
#define EPSILOG_SELECT_DECISION                                                                             \
  "SELECT d.seq, d.id, d.created_at, d.principal, d.key, d.request_digest, d.request, d.dataset,"           \
  " d.policy_version, d.outcome, d.reasons, d.accounts, r.mechanism, r.arithmetic, r.requested, r.charged," \
  " r.adjusted, r.published, r.value, r.components, r.cells, r.post_processing"                             \
  " FROM decision AS d LEFT JOIN release AS r ON r.decision_id = d.id "

/// All throw StorageFailure, and LedgerCorrupt naming the record that does not make sense.
[[nodiscard]] Meta read_meta(Connection& connection);
[[nodiscard]] PolicyVersion read_active_policy(Connection& connection);
[[nodiscard]] PolicyVersion policy_of_row(const Query& row);
/// `dataset` "" = all; ordered by (dataset, scope, measure).
[[nodiscard]] std::vector<AccountState> read_accounts(Connection& connection, const std::string& dataset);
/// The row a decision query stands on, with its charges.
[[nodiscard]] StoredDecision read_decision(Connection& connection, const Query& row);
[[nodiscard]] std::optional<StoredDecision> find_decision_by_key(Connection& connection,
                                                                 const std::string& principal,
                                                                 const std::string& key);
[[nodiscard]] std::optional<StoredDecision> find_decision_by_id(Connection& connection,
                                                                const std::string& id);

}  // namespace epsilog::ledger
