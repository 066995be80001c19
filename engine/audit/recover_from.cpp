#include "epsilog/engine/recovery.hpp"
#include "ledger_faults.hpp"

namespace epsilog::engine {
namespace {

// It was written a moment ago, page by page, from a file whose pages were checked.
constexpr StorageCheck kJustWritten = StorageCheck::quick;

}  // namespace

ledger::ReplicaRecovery recover_from(const std::string& ledger_path, const std::string& replica,
                                     const ledger::ReplicaRecoveryOptions& steps,
                                     const EngineOptions& options, const Progress& progress) {
  ledger::ReplicaRecoveryOptions verified = steps;
  verified.verify = [&progress](const std::string& path) {
    return ledger_faults(path, progress, kJustWritten);
  };
  ledger::ReplicaRecovery recovery =
      ledger::Ledger::recover_from(ledger_path, replica, verified, options.ledger_options());
  if (recovery.faults.empty()) static_cast<void>(recover(ledger_path, steps.by, steps.why, options));
  return recovery;
}

}  // namespace epsilog::engine
