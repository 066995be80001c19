// What an audit finds wrong with a ledger that nobody else knows yet.
#pragma once

#include <string>
#include <vector>

#include "epsilog/engine/audit_report.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/ledger/inspection.hpp"

namespace epsilog::engine {

/// Throws  as audit_verify().
[[nodiscard]] std::vector<ledger::StoredFault> ledger_faults(const std::string& ledger_path,
                                                             const Progress& progress, StorageCheck storage);

}  // namespace epsilog::engine
