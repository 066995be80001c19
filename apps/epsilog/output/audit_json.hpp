// What an audit found, as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "epsilog/engine/audit.hpp"

namespace epsilog::command {

/// Which ledger was verified, so that two reports can be held beside each other; "" and 0 where it cannot be
/// read.
struct Examined {
  std::string ledger_id = {};
  std::string policy_sha256 = {};  ///< of the active version
  std::int64_t policy_version = 0;
  std::int64_t policy_versions = 0;
  std::int64_t accounts = 0;
};
[[nodiscard]] std::string audit_json(const engine::AuditReport& report, const Examined& examined);
/// One line each; the summary comes last.
[[nodiscard]] std::string replayed_json(const engine::ReplayedDecision& decision);
[[nodiscard]] std::string replay_summary_json(const engine::AuditReport& report, std::int64_t same);

}  // namespace epsilog::command
