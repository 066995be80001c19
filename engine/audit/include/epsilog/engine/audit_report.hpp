// What an audit says of a ledger, and of each decision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epsilog/engine/audit_fault.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// How far SQLite checks the file itself before its rows are checked, which they are in any case.
enum class StorageCheck {
  full,   ///< its integrity_check
  quick,  ///< its quick_check: not whether the indices have what the tables have, and no more
  none,
};

struct AuditReport {
  bool ok = false;
  StorageCheck storage = StorageCheck::full;  ///< as was asked
  std::int64_t records = 0;                   ///< decisions examined
  std::vector<AuditFault> faults;
  /// What older rules allowed that today's would not; no fault of the ledger.
  std::vector<AuditFault> notes;
  std::vector<ledger::Relocation> relocations;  ///< by seq
};

/// One decision, decided again from the policy, the request and the balances of its place in history.
struct ReplayedDecision {
  std::int64_t seq = 0;
  std::string decision_id;
  std::string created_at;
  std::string outcome;                   ///< as recorded: "granted", "refused", …
  ledger::Rules rules = ledger::kRules;  ///< it was judged by
  std::int64_t policy_version = 0;
  std::string policy_sha256;       ///< of that version
  std::vector<AuditFault> faults;  ///< empty: the same again, every text and every integer
};

}  // namespace epsilog::engine
