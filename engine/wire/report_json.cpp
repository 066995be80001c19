#include "report_json.hpp"

#include <algorithm>

#include "epsilog/engine/measure.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/json_writer.hpp"
#include "json_parts.hpp"

namespace epsilog::wire {
namespace {

/// What an audit, or reading a stored line, found.
template <class Fault>
Json record_faults(const std::vector<Fault>& faults) {
  Json list = Json::array();
  for (const Fault& fault : faults) {
    list.push_back({{"record", fault.record}, {"code", fault.code}, {"message", fault.message}});
  }
  return list;
}

}  // namespace

std::string init_json(const engine::InitReport& report) {
  return pretty(
      {{"ledger", report.ledger}, {"ledger_id", report.ledger_id}, {"policy_sha256", report.policy_sha256}});
}

std::string policy_check_json(const std::vector<PolicyFault>& faults,
                              const std::vector<PolicyFault>& warnings) {
  return pretty(
      {{"ok", faults.empty()}, {"faults", faults_json(faults)}, {"warnings", faults_json(warnings)}});
}

std::string policy_implies_json(const engine::ImpliedPolicy& implied) {
  ledger::JsonWriter json;
  json.raw("{").field("implies").raw(implied.object).field("sha256", implied.sha256).raw("}\n");
  return json.take();
}

std::string policy_show_json(const ledger::PolicyVersion& version, const std::string& ledger_id) {
  return pretty({{"ledger_id", ledger_id},
                 {"policy_version", version.version},
                 {"policy_sha256", version.sha256},
                 {"base_dir", version.base_dir},
                 {"applied_at", version.applied_at},
                 {"applied_by", version.applied_by},
                 {"why", or_null(version.why)},
                 {"yaml", version.yaml}});
}

std::string policy_apply_json(const engine::ApplyReport& report, const std::string& ledger_id,
                              const std::vector<engine::BudgetAccount>& accounts) {
  const auto find = [&accounts](std::int64_t id) {
    const auto account = std::find_if(accounts.begin(), accounts.end(),
                                      [id](const auto& candidate) { return candidate.id == id; });
    EPSILOG_INVARIANT(account != accounts.end());
    return account;
  };
  Json changes = Json::array();
  for (const ledger::LimitChange& change : report.limit_changes) {
    const auto account = find(change.account);
    changes.push_back({{"dataset", account->dataset},
                       {"scope", account->scope},
                       {"measure", account->measure},
                       {"old_limit", engine::amount_text(account->measure, change.old_limit)},
                       {"new_limit", engine::amount_text(account->measure, change.new_limit)},
                       {"by", change.by},
                       {"why", change.why}});
  }
  Json removals = Json::array();
  for (const ledger::LimitRemoval& removal : report.limit_removals) {
    const auto account = find(removal.account);
    removals.push_back({{"dataset", account->dataset},
                        {"scope", account->scope},
                        {"measure", account->measure},
                        {"limit", engine::amount_text(account->measure, account->balance.limit)},
                        {"spent", engine::amount_text(account->measure, account->balance.spent)},
                        {"by", removal.by},
                        {"why", removal.why}});
  }
  return pretty({{"ledger_id", ledger_id},
                 {"policy_version", report.policy_version},
                 {"policy_sha256", report.policy_sha256},
                 {"changed", report.changed},
                 {"limit_changes", changes},
                 {"limit_removals", removals}});
}

std::string data_check_json(const std::vector<DatasetReport>& reports,
                            const std::vector<std::string>& without_source) {
  Json datasets = Json::array();
  bool ok = true;
  for (const DatasetReport& report : reports) {
    ok = ok && report.problems.empty();
    Json columns = Json::array();
    for (const auto& column : report.data.columns) {
      columns.push_back({{"column", column.column},
                         {"missing", column.missing},
                         {"nulls", column.nulls},
                         {"unreadable", column.unreadable},
                         {"unreadable_at", column.unreadable_at},
                         {"out_of_bounds", column.out_of_bounds},
                         {"undeclared", column.undeclared},
                         {"undeclared_at", column.undeclared_at}});
    }
    datasets.push_back(
        {{"dataset", report.dataset},
         {"source", report.source},
         {"problems", report.problems},
         {"rows", report.data.rows},
         {"malformed", report.data.malformed},
         {"malformed_at", report.data.malformed_at},
         {"outside_blocks", report.data.outside_blocks ? Json(*report.data.outside_blocks) : Json()},
         {"without_unit", report.data.without_unit},
         {"over_max_rows", report.data.over_max_rows},
         {"units", report.data.units},
         {"kept", report.data.kept},
         {"rows_declared", report.data.declared.count},
         {"rows_exact", report.data.declared.exact},
         {"beyond_rows_max", report.data.beyond_rows_max},
         {"columns", columns}});
  }
  return pretty({{"ok", ok}, {"datasets", datasets}, {"without_source", without_source}});
}

std::string budget_json(const std::string& ledger_id, const std::vector<engine::BudgetAccount>& accounts,
                        const std::vector<std::string>& notes) {
  Json list = Json::array();
  for (const engine::BudgetAccount& account : accounts) {
    Json object = account_json(account);
    object["active"] = account.active;
    list.push_back(std::move(object));
  }
  return pretty({{"ledger_id", ledger_id}, {"accounts", list}, {"notes", notes}});
}

std::string relocate_json(const engine::RelocateReport& report, const std::string& ledger_id) {
  return pretty({{"ledger_id", ledger_id},
                 {"dataset", report.dataset},
                 {"changed", report.changed},
                 {"from", report.from},
                 {"to", report.to},
                 {"at", report.changed ? Json(report.at) : Json(nullptr)}});
}

std::string import_json(const std::string& ledger, std::int64_t lines) {
  return pretty({{"ledger", ledger}, {"lines", lines}, {"read_only", true}});
}

std::string clock_confirm_json(const std::string& ledger, const std::string& held_at,
                               const std::string& now) {
  return pretty({{"ledger", ledger},
                 {"was_held", !held_at.empty()},
                 {"held_at", or_null(held_at)},
                 {"calendar_time", now}});
}

std::string recover_json(const std::string& ledger, const engine::RecoverReport& report) {
  const bool accepted = report.accepted.remembered > 0;
  return pretty({{"ledger", ledger},
                 {"was_poisoned", report.was_poisoned},
                 {"reason", or_null(report.reason)},
                 {"remembered_lines", accepted ? Json(report.accepted.remembered) : Json()},
                 {"found_lines", accepted ? Json(report.accepted.found) : Json()}});
}

std::string recover_from_json(const std::string& ledger, const ledger::ReplicaRecovery& recovery) {
  return pretty({{"ledger", ledger},
                 {"ledger_id", or_null(recovery.ledger_id)},
                 {"kept_lines", recovery.kept},
                 {"restored_lines", recovery.restored},
                 {"dropped_lines", recovery.dropped},
                 {"dropped_bytes", recovery.dropped_bytes},
                 {"dropped_from", recovery.dropped_bytes == 0 ? Json() : Json(recovery.dropped_from)},
                 {"truncated", recovery.truncated},
                 {"faults", record_faults(recovery.faults)}});
}

std::string backup_json(const std::string& ledger, const std::string& file, const ledger::Backup& backup) {
  using Replica = ledger::Backup::ReplicaCheck;
  const bool made = backup.faults.empty();
  return pretty({{"ledger", ledger},
                 {"ledger_id", backup.ledger_id},
                 {"backup", made ? Json(file) : Json()},
                 {"size", backup.tree.size},
                 {"root", ledger::hex_text(backup.tree.root)},
                 {"decisions", backup.decisions},
                 {"last_time", backup.last_time},
                 {"bytes", made ? Json(backup.bytes) : Json()},
                 {"replica", backup.replica == Replica::none     ? Json()
                             : backup.replica == Replica::agrees ? Json("agrees")
                                                                 : Json("unusable")},
                 {"faults", record_faults(backup.faults)}});
}

std::string restore_json(const std::string& ledger, const std::string& file,
                         const ledger::Restoration& restoration) {
  const bool done = restoration.faults.empty();
  return pretty({{"ledger", ledger},
                 {"ledger_id", or_null(restoration.ledger_id)},
                 {"backup", file},
                 {"kept_lines", restoration.kept},
                 {"restored_lines", restoration.restored},
                 {"replica", or_null(restoration.replica)},
                 {"replica_lines", restoration.replica.empty() ? Json() : Json(restoration.replica_lines)},
                 {"replica_end", or_null(restoration.replica_end)},
                 {"dropped_lines", restoration.dropped},
                 {"dropped_bytes", restoration.dropped_bytes},
                 {"dropped_from", restoration.dropped_bytes == 0 ? Json() : Json(restoration.dropped_from)},
                 {"truncated", restoration.truncated},
                 {"unsealed", restoration.unsealed},
                 {"size", done ? Json(restoration.tree.size) : Json()},
                 {"root", done ? Json(ledger::hex_text(restoration.tree.root)) : Json()},
                 {"faults", record_faults(restoration.faults)}});
}

std::string seal_json(const std::string& ledger, const ledger::SealResult& sealing) {
  return pretty({{"ledger", ledger},
                 {"ledger_id", sealing.ledger_id},
                 {"sealed_at", sealing.seal.at},
                 {"by", sealing.seal.by},
                 {"why", sealing.seal.why},
                 {"changed", sealing.changed},
                 {"size", sealing.tree.size},
                 {"root", ledger::hex_text(sealing.tree.root)}});
}

const char* length_record_name(ledger::EndMarkState memory) {
  switch (memory) {
    case ledger::EndMarkState::none:
      return "none";
    case ledger::EndMarkState::unreadable:
      return "unreadable";
    case ledger::EndMarkState::remembered:
      return "present";
  }
  return "none";
}

const char* file_system_name(bool over_fuse) {
  return over_fuse ? "fuse" : "local";
}

std::string audit_json(const engine::AuditReport& report, const VerifiedLedger& examined) {
  const bool named = examined.policy_version != 0;
  Json json = {{"ok", report.ok},
               {"ledger_id", or_null(examined.ledger_id)},
               {"policy_version", named ? Json(examined.policy_version) : Json(nullptr)},
               {"policy_sha256", or_null(examined.policy_sha256)},
               {"records", report.records},
               {"accounts", examined.accounts},
               {"policy_versions", examined.policy_versions},
               {"faults", record_faults(report.faults)},
               {"notes", record_faults(report.notes)},
               {"length_record", length_record_name(report.end_mark_state)},
               {"file_system", file_system_name(report.over_fuse)},
               {"stale_replicas", report.stale_replicas},
               {"relocations", relocations_json(report.relocations)},
               {"events", events_json(examined.events)},
               {"claimed_approvals", claimed_approvals_json(report)},
               {"ended_credentials", ended_credentials_json(report)}};
  if (report.storage != engine::StorageCheck::full) {
    json["storage"] = report.storage == engine::StorageCheck::quick ? "quick" : "none";
  }
  return pretty(json);
}

std::string replayed_json(const engine::ReplayedDecision& decision) {
  return one_object({{"decision_id", decision.decision_id},
                     {"seq", decision.seq},
                     {"created_at", decision.created_at},
                     {"outcome", decision.outcome},
                     {"rules", static_cast<std::int64_t>(decision.rules)},
                     {"policy_version", decision.policy_version},
                     {"policy_sha256", or_null(decision.policy_sha256)},
                     {"same", decision.faults.empty()},
                     {"faults", record_faults(decision.faults)}},
                    -1);
}

std::string replay_summary_json(const engine::AuditReport& report, std::int64_t same) {
  return one_object({{"ok", report.ok},
                     {"records", report.records},
                     {"same", same},
                     {"faults", record_faults(report.faults)}},
                    -1);
}

}  // namespace epsilog::wire
