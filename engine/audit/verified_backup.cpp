#include "epsilog/engine/verified_backup.hpp"

#include <utility>

#include "epsilog/ledger/ledger.hpp"
#include "ledger_faults.hpp"

namespace epsilog::engine {
namespace {

/// The part of the time that goes by before the copy is verified, as measured.
constexpr double kCopied = 0.1;

}  // namespace

ledger::Backup backup(const std::string& ledger_path, const std::string& file, const EngineOptions& options,
                      const Progress& progress) {
  ledger::BackupHooks steps;
  steps.verify = [&progress](const std::string& path) {
    const auto rest = [&progress](double part) { progress(kCopied + (1 - kCopied) * part); };
    return ledger_faults(path, progress ? Progress(rest) : Progress(), StorageCheck::full);
  };
  if (progress) steps.progress = [&progress](double part) { progress(kCopied * part); };
  return ledger::Ledger::backup(ledger_path, file, steps, options.ledger_options());
}

ledger::Restoration restore(const std::string& ledger_path, const std::string& file,
                            ledger::RestoreOptions steps, const EngineOptions& options,
                            const Progress& progress) {
  steps.verify = [&progress](const std::string& path) {
    return ledger_faults(path, progress, StorageCheck::full);
  };
  return ledger::Ledger::restore(ledger_path, file, steps, options.ledger_options());
}

}  // namespace epsilog::engine
