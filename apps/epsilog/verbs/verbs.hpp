// The groups of verbs on policies, data and ledgers, each in the order in which the help shows it.
#pragma once

#include <vector>

#include "verb_spec.hpp"

namespace epsilog::command {

[[nodiscard]] std::vector<VerbSpec> policy_verbs();
[[nodiscard]] VerbSpec policy_diff_verb();  ///< among the policy's
[[nodiscard]] std::vector<VerbSpec> policy_draft_verbs();
[[nodiscard]] std::vector<VerbSpec> data_verbs();
[[nodiscard]] std::vector<VerbSpec> ask_verbs();
[[nodiscard]] VerbSpec forecast_verb();  ///< among those that ask
[[nodiscard]] std::vector<VerbSpec> request_verbs();
[[nodiscard]] std::vector<VerbSpec> ledger_verbs();
[[nodiscard]] std::vector<VerbSpec> audit_verbs();
[[nodiscard]] VerbSpec audit_reaccount_verb();                 ///< among the audit's
[[nodiscard]] VerbSpec audit_report_verb();                    ///< likewise
[[nodiscard]] std::vector<VerbSpec> audit_line_verbs();        ///< likewise
[[nodiscard]] std::vector<VerbSpec> audit_checkpoint_verbs();  ///< likewise
[[nodiscard]] std::vector<VerbSpec> audit_witness_verbs();     ///< likewise
[[nodiscard]] std::vector<VerbSpec> key_verbs();
[[nodiscard]] std::vector<VerbSpec> credential_verbs();
[[nodiscard]] std::vector<VerbSpec> upkeep_verbs();
[[nodiscard]] std::vector<VerbSpec> backup_verbs();
[[nodiscard]] std::vector<VerbSpec> serve_verbs();

}  // namespace epsilog::command
