// Whether a ledger is what its own charges, policies and rules make of it.
//
// Thread-safety: each call reads a view of its own.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/audit_report.hpp"
#include "epsilog/engine/progress.hpp"

namespace epsilog::engine {

/// The code of the fault that an I/O error poisoned the ledger: what is on the disk is unknown, which is no
/// contradiction in what can be read.
inline constexpr std::string_view kPoisoned = "poisoned";

/// The code of the fault that the ledger has fewer lines than L.lock remembers.
inline constexpr std::string_view kLinesMissing = "lines_missing";

/// As audit_verify, telling of each decision in order. What is wrong elsewhere is in the report only.
AuditReport audit_replay(const std::string& ledger_path,
                         accounting::CallbackRef<void(const ReplayedDecision&)> visit,
                         const Progress& progress = {}, StorageCheck storage = StorageCheck::full);

/// Recomputes everything from the charges up and re-decides every decision. Trusts no balance. That the
/// ledger is poisoned is a fault too. Others may write meanwhile: what it says is about the history as it was
/// when it began, and each check of the file about one instant since.
/// Throws  LedgerUnusable if it cannot be opened at all; LedgerBusy if another history was put in its place
///         meanwhile; what is wrong inside is a fault.
[[nodiscard]] AuditReport audit_verify(const std::string& ledger_path, const Progress& progress = {},
                                       StorageCheck storage = StorageCheck::full);

}  // namespace epsilog::engine
