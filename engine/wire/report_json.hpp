// What the verbs that answer no question report, as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/implied_policy.hpp"
#include "epsilog/engine/ledger_events.hpp"
#include "epsilog/engine/recovery.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::wire {

[[nodiscard]] std::string init_json(const engine::InitReport& report);
[[nodiscard]] std::string policy_check_json(const std::vector<PolicyFault>& faults,
                                            const std::vector<PolicyFault>& warnings);
/// One line of canonical JSON, which the independent verifier compares to the byte.
[[nodiscard]] std::string policy_implies_json(const engine::ImpliedPolicy& implied);
[[nodiscard]] std::string policy_show_json(const ledger::PolicyVersion& version,
                                           const std::string& ledger_id);
/// `accounts` resolves the account of each limit change and removal.
[[nodiscard]] std::string policy_apply_json(const engine::ApplyReport& report, const std::string& ledger_id,
                                            const std::vector<engine::BudgetAccount>& accounts);

struct DatasetReport {
  std::string dataset;
  std::string source;
  engine::DataReport data;
  std::vector<std::string> problems = {};  ///< engine::SourceCheck
};
/// `without_source`: datasets whose values come from outside.
[[nodiscard]] std::string data_check_json(const std::vector<DatasetReport>& reports,
                                          const std::vector<std::string>& without_source);

[[nodiscard]] std::string budget_json(const std::string& ledger_id,
                                      const std::vector<engine::BudgetAccount>& accounts,
                                      const std::vector<std::string>& notes);
[[nodiscard]] std::string import_json(const std::string& ledger, std::int64_t lines);
/// `held_at` "": the calendar was not held.
[[nodiscard]] std::string clock_confirm_json(const std::string& ledger, const std::string& held_at,
                                             const std::string& now);
[[nodiscard]] std::string relocate_json(const engine::RelocateReport& report, const std::string& ledger_id);
[[nodiscard]] std::string recover_json(const std::string& ledger, const engine::RecoverReport& report);
[[nodiscard]] std::string recover_from_json(const std::string& ledger,
                                            const ledger::ReplicaRecovery& recovery);
[[nodiscard]] std::string backup_json(const std::string& ledger, const std::string& file,
                                      const ledger::Backup& backup);
[[nodiscard]] std::string seal_json(const std::string& ledger, const ledger::SealResult& sealing);
[[nodiscard]] std::string restore_json(const std::string& ledger, const std::string& file,
                                       const ledger::Restoration& restoration);

/// Which ledger was verified, so that two reports can be held beside each other; "" and 0 where it cannot be
/// read.
struct VerifiedLedger {
  std::string ledger_id = {};
  std::string policy_sha256 = {};  ///< of the active version
  std::int64_t policy_version = 0;
  std::int64_t policy_versions = 0;
  std::int64_t accounts = 0;
  /// What was taken back or put together again, and what a policy version loosened.
  std::vector<engine::LedgerEvent> events = {};
};
/// "none", "unreadable", "present".
[[nodiscard]] const char* length_record_name(ledger::EndMarkState memory);
[[nodiscard]] const char* file_system_name(bool over_fuse);
[[nodiscard]] std::string audit_json(const engine::AuditReport& report, const VerifiedLedger& examined);
/// One line each; the summary comes last.
[[nodiscard]] std::string replayed_json(const engine::ReplayedDecision& decision);
[[nodiscard]] std::string replay_summary_json(const engine::AuditReport& report, std::int64_t same);

}  // namespace epsilog::wire
