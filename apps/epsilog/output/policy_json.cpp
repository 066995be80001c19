#include "policy_json.hpp"

#include <algorithm>

#include "epsilog/engine/measure.hpp"
#include "json_parts.hpp"

namespace epsilog::command {

std::string init_json(const engine::InitReport& report) {
  return pretty(
      {{"ledger", report.ledger}, {"ledger_id", report.ledger_id}, {"policy_sha256", report.policy_sha256}});
}

std::string policy_check_json(const std::vector<PolicyFault>& faults,
                              const std::vector<PolicyFault>& warnings) {
  return pretty(
      {{"ok", faults.empty()}, {"faults", faults_json(faults)}, {"warnings", faults_json(warnings)}});
}

std::string policy_show_json(const ledger::PolicyVersion& version, const std::string& ledger_id) {
  return pretty({{"ledger_id", ledger_id},
                 {"policy_version", version.version},
                 {"policy_sha256", version.sha256},
                 {"base_dir", version.base_dir},
                 {"applied_at", version.applied_at},
                 {"applied_by", version.applied_by},
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

}  // namespace epsilog::command
