// What the verbs that answer no question report, for people.
#pragma once

#include <string>
#include <vector>

#include "console.hpp"
#include "report_json.hpp"

namespace epsilog::command {

/// `accounts` resolves the account of each limit change and removal.
[[nodiscard]] std::string policy_apply_text(const engine::ApplyReport& report,
                                            const std::vector<engine::BudgetAccount>& accounts,
                                            const Style& style);

/// Counts of rows and cells, and what makes answers other than expected.
[[nodiscard]] std::string data_check_text(const wire::DatasetReport& report, const engine::Dataset& dataset,
                                          const Style& style);

/// Which approvals are by a claim alone, and which decisions by a credential that had ended: one sentence of
/// each, if there are any.
[[nodiscard]] std::vector<std::string> known_by_sentences(const engine::AuditReport& report);
/// The verdict, what was examined, each fault or note, and what nobody can check: relocations, approvals by a
/// claim, ended credentials.
[[nodiscard]] std::string audit_text(const engine::AuditReport& report, const wire::VerifiedLedger& examined,
                                     const Style& style);

}  // namespace epsilog::command
