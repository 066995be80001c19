#include "ledger_faults.hpp"

#include "epsilog/engine/audit.hpp"

namespace epsilog::engine {

std::vector<ledger::StoredFault> ledger_faults(const std::string& ledger_path, const Progress& progress,
                                               StorageCheck storage) {
  std::vector<ledger::StoredFault> faults;
  for (const AuditFault& fault : audit_verify(ledger_path, progress, storage).faults) {
    faults.push_back({fault.record, fault.code, fault.message});
  }
  return faults;
}

}  // namespace epsilog::engine
