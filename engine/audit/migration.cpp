#include "epsilog/engine/migration.hpp"

#include <optional>

#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/recovery.hpp"
#include "implied_object.hpp"
#include "ledger_faults.hpp"
#include "scopes.hpp"

namespace epsilog::engine {
namespace {

/// Of a text that no program of today reads nothing is known.
ledger::PolicyMeaning meaning_of(const ledger::PolicyVersion& version) {
  ledger::PolicyMeaning meaning;
  try {
    const Policy policy = Policy::parse_stored(version.yaml, "policy " + std::to_string(version.version));
    meaning.implies = implied_object(policy);
    for (const ledger::AccountState& account : accounts_wanted(policy)) {
      meaning.accounts.push_back(account.name());
    }
  } catch (const PolicyError&) {
    return {};
  }
  return meaning;
}

/// The part of the time that goes by before what was made is verified, as measured.
constexpr double kWritten = 0.6;

// It was written a moment ago, page by page, from a file whose pages were checked.
constexpr StorageCheck kJustWritten = StorageCheck::quick;

}  // namespace

ledger::MigrationSteps migration_steps(const Progress& progress) {
  ledger::MigrationSteps steps;
  steps.meaning = meaning_of;
  steps.verify = [progress](const std::string& path) {
    const auto rest = [&progress](double fraction) { progress(kWritten + (1 - kWritten) * fraction); };
    return ledger_faults(path, progress ? Progress(rest) : Progress(), kJustWritten);
  };
  if (progress) steps.progress = [progress](double fraction) { progress(kWritten * fraction); };
  return steps;
}

ledger::ReplicaRecovery recover_from(const std::string& ledger_path, const std::string& replica,
                                     const ledger::ReplicaRecoverySteps& steps, const EngineOptions& options,
                                     const Progress& progress) {
  ledger::ReplicaRecoverySteps verified = steps;
  verified.verify = [&progress](const std::string& path) {
    return ledger_faults(path, progress, kJustWritten);
  };
  ledger::ReplicaRecovery recovery =
      ledger::Ledger::recover_from(ledger_path, replica, verified, options.ledger_options());
  if (recovery.faults.empty()) static_cast<void>(recover(ledger_path, steps.by, steps.why, options));
  return recovery;
}

ledger::Migration migrate(const std::string& ledger_path, const EngineOptions& options,
                          const Progress& progress) {
  return ledger::Ledger::migrate(ledger_path, options.ledger_options(), migration_steps(progress));
}

}  // namespace epsilog::engine
