// Whether a ledger is what its own charges, policies and rules make of it.
//
// Thread-safety: each call reads a view of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/audit_fault.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// The code of the fault that an I/O error poisoned the ledger: what is on the disk is unknown, which is no
/// contradiction in what can be read.
inline constexpr std::string_view kPoisoned = "poisoned";

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

/// As audit_verify, telling of each decision in order. What is wrong elsewhere is in the report only.
AuditReport audit_replay(const std::string& ledger_path,
                         accounting::CallbackRef<void(const ReplayedDecision&)> visit,
                         const Progress& progress = {}, StorageCheck storage = StorageCheck::full);

/// Recomputes everything from the charges up and re-decides every decision. Trusts no balance. That the
/// ledger is poisoned is a fault too. Throws  LedgerUnusable if it cannot be opened at all; what is wrong
/// inside is a fault.
[[nodiscard]] AuditReport audit_verify(const std::string& ledger_path, const Progress& progress = {},
                                       StorageCheck storage = StorageCheck::full);

}  // namespace epsilog::engine
