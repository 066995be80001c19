#include "audit_json.hpp"

#include "json_parts.hpp"

namespace epsilog::command {
namespace {

Json audit_faults(const std::vector<engine::AuditFault>& faults) {
  Json list = Json::array();
  for (const engine::AuditFault& fault : faults) {
    list.push_back({{"record", fault.record}, {"code", fault.code}, {"message", fault.message}});
  }
  return list;
}

}  // namespace

std::string audit_json(const engine::AuditReport& report, const Examined& examined) {
  const bool named = examined.policy_version != 0;
  Json relocations = Json::array();
  for (const ledger::Relocation& relocation : report.relocations) {
    relocations.push_back({{"after_decision", relocation.after_decision},
                           {"at", relocation.at},
                           {"dataset", relocation.dataset},
                           {"source", relocation.path},
                           {"by", relocation.by},
                           {"why", or_null(relocation.why)}});
  }
  return pretty({{"ok", report.ok},
                 {"ledger_id", or_null(examined.ledger_id)},
                 {"policy_version", named ? Json(examined.policy_version) : Json(nullptr)},
                 {"policy_sha256", or_null(examined.policy_sha256)},
                 {"records", report.records},
                 {"accounts", examined.accounts},
                 {"policy_versions", examined.policy_versions},
                 {"faults", audit_faults(report.faults)},
                 {"notes", audit_faults(report.notes)},
                 {"relocations", std::move(relocations)}});
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
                     {"faults", audit_faults(decision.faults)}},
                    -1);
}

std::string replay_summary_json(const engine::AuditReport& report, std::int64_t same) {
  return one_object({{"ok", report.ok},
                     {"records", report.records},
                     {"same", same},
                     {"faults", audit_faults(report.faults)}},
                    -1);
}

}  // namespace epsilog::command
