#include "policy_text.hpp"

#include <fmt/format.h>

#include "amounts.hpp"
#include "epsilog/engine/measure.hpp"
#include "printable.hpp"
#include "table_output.hpp"

namespace epsilog::command {

std::string policy_apply_text(const engine::ApplyReport& report,
                              const std::vector<engine::BudgetAccount>& accounts, const Style& style) {
  if (!report.changed)
    return fmt::format("version {} is active already: the policy is the same\n", report.policy_version);
  std::string text = fmt::format("version {} is active\n  policy     sha256 {}\n", report.policy_version,
                                 report.policy_sha256);
  Table table(
      {{"dataset"}, {"measure"}, {"old limit", Table::Align::right}, {"new limit", Table::Align::right}});
  for (const ledger::LimitChange& change : report.limit_changes) {
    for (const engine::BudgetAccount& account : accounts) {
      if (account.id != change.account) continue;
      table.add({account.dataset, account.measure, engine::amount_text(account.measure, change.old_limit),
                 engine::amount_text(account.measure, change.new_limit)});
    }
  }
  for (const ledger::LimitRemoval& removal : report.limit_removals) {
    for (const engine::BudgetAccount& account : accounts) {
      if (account.id == removal.account)
        text += "  no limit any more: " + printable(account_subject(account)) + "\n";
    }
  }
  return table.empty() ? text : text + "\n" + table.text(style);
}

}  // namespace epsilog::command
