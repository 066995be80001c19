#include "replica_handover.hpp"

#include <cstdint>
#include <optional>

#include "epsilog/accounting/errors.hpp"
#include "queries.hpp"
#include "record_rows.hpp"
#include "replica_file.hpp"
#include "replication.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kPolicyLine = "SELECT max(line_index) FROM log WHERE kind = ?1";
constexpr const char* kPolicyVersion =
    "SELECT version, yaml, sha256, base_dir, applied_at FROM policy_version WHERE version = ?1";
constexpr const char* kOtherLinesAfter =
    "SELECT 1 FROM log WHERE line_index > ?1 AND kind NOT IN (?2, ?3, ?4, ?5, ?6) LIMIT 1";

std::int64_t number(RecordKind kind) {
  return static_cast<std::int64_t>(kind);
}

/// Whether nothing was recorded after the last policy version but what belongs to it, or a recovery.
bool ends_with_policy(Connection& connection) {
  Query line = connection.query(kPolicyLine);
  line.with(number(RecordKind::policy));
  if (!line.step()) return false;
  Query others = connection.query(kOtherLinesAfter);
  others.with(line.integer(0), number(RecordKind::policy_location), number(RecordKind::account),
              number(RecordKind::limit_change), number(RecordKind::limit_removal),
              number(RecordKind::recovery));
  return !others.step();
}

std::optional<Replica> named_by(Connection& connection, std::int64_t version, const Options& options) {
  Query row = connection.query(kPolicyVersion);
  row.with(version);
  if (version < 1 || !options.replica || !row.step()) return std::nullopt;
  PolicyVersion policy;
  policy.version = row.integer(0);
  policy.yaml = row.text(1);
  policy.base_dir = row.text(3);
  policy.applied_at = row.time(4);
  return options.replica(policy);
}

}  // namespace

std::string close_stale_replica(Connection& connection, const StaleReplica& stale, const LedgerFiles& files) {
  try {
    ReplicaFile file = ReplicaFile::open(stale.replica.path, files);
    static_cast<void>(catch_up(file, stale.replica, connection, stale.size, {.size = stale.known, .end = 0}));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string replacement_notice(Connection& ledger, const std::string& used, const Options& options) {
  if (!ends_with_policy(ledger)) return "";
  const Meta meta = read_meta(ledger);
  const std::optional<Replica> now = named_by(ledger, meta.policy_versions, options);
  const std::optional<Replica> before = named_by(ledger, meta.policy_versions - 1, options);
  const bool replaced = before && (!now || now->path != before->path);
  if (!replaced || (now && now->path == used)) return "";
  const std::string end = "the replica " + used + " ends at " + meta.last_time + " with policy version " +
                          std::to_string(meta.policy_versions) + ", which ";
  return now ? end + "names another replica: what was recorded since is in " + now->path
             : end + "ends it: what was recorded since is in no replica";
}

}  // namespace epsilog::ledger
