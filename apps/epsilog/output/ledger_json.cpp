#include "ledger_json.hpp"

#include "json_parts.hpp"

namespace epsilog::command {

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

std::string migrate_json(const std::string& ledger, const ledger::Migration& migration) {
  return pretty({{"ledger", ledger},
                 {"from", migration.from},
                 {"to", migration.to},
                 {"copy", or_null(migration.copy)}});
}

std::string clock_confirm_json(const std::string& ledger, const std::string& held_at,
                               const std::string& now) {
  return pretty({{"ledger", ledger},
                 {"was_held", !held_at.empty()},
                 {"held_at", or_null(held_at)},
                 {"calendar_time", now}});
}

std::string recover_json(const std::string& ledger, const engine::RecoverReport& report) {
  return pretty(
      {{"ledger", ledger}, {"was_poisoned", report.was_poisoned}, {"reason", or_null(report.reason)}});
}

}  // namespace epsilog::command
