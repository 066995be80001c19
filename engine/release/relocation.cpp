// `relocate`: the same data stand elsewhere from now on, says a curator by name.
#include <filesystem>

#include "checkpoint_signer.hpp"
#include "engine_state.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/engine/engine.hpp"
#include "folder_faults.hpp"
#include "open_source.hpp"
#include "policy_values.hpp"
#include "recorded_names.hpp"
#include "release_path.hpp"
#include "row_source.hpp"
#include "source_location.hpp"

namespace epsilog::engine {
namespace {

/// How often it starts over because a policy was applied under it.
constexpr int kAttemptsMax = 100;

/// The path is stored and shown as it is.
std::string stored_path(const std::string& path) {
  if (path.empty()) throw InvalidParameter("source: no path is named");
  check_text(path, "source");
  return absolute_path(path, "source");
}

/// Whether what is there has the shape that the policy declares. What is in it nobody can compare: nothing
/// of a source is in the ledger.
void require_shape(const Dataset& dataset, const std::string& path) {
  const accounting::DefaultFloatingPoint floating_point;
  const Dataset there = with_source_at(dataset, path);
  (void)open_source(there, {}, "");
}

/// Throws  PolicyError: where a source is found is part of what a policy means.
void require_folder(const Dataset& dataset, const std::string& path, const std::optional<Folders>& folders) {
  if (!folders) return;
  auto fault = source_fault(dataset, path, *folders, "the active policy");
  if (fault) throw PolicyError({std::move(*fault)});
}

const Dataset& with_source(const Policy& policy, const std::string& dataset) {
  const Dataset& declared = policy.dataset(dataset);
  if (declared.has_source()) return declared;
  throw SourceError("dataset '" + dataset + "' has no source: its values come from outside");
}

}  // namespace

RelocateReport Curating::relocate(const std::string& dataset, const std::string& path, const std::string& by,
                                  const std::string& why) {
  check_name(by, "by");
  check_reason(why);
  if (by.empty()) throw InvalidParameter("by: who relocates the source is not named");
  if (why.empty()) throw InvalidParameter("why: a relocation needs a reason, which is kept with it");
  const CheckpointSigner::AfterCall at_end(state_->checkpoints());
  RelocateReport report;
  report.dataset = dataset;
  report.to = stored_path(path);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const auto active = [&] {
      ledger::Snapshot view = state_->snapshot();
      return state_->active_policy(view);
    }();
    const Dataset& declared = with_source(active->policy, dataset);
    require_folder(declared, report.to, state_->options.folders);
    require_shape(declared, report.to);
    ledger::Ledger& ledger = state_->writer();
    ledger::Transaction transaction = ledger.begin();
    if (transaction.active_policy_version() != active->version.version) continue;
    report.from = location(transaction, *active, declared);
    report.at = transaction.now();
    report.changed = !same_location(report.from, report.to);
    if (!report.changed) return report;
    transaction.relocate(dataset, report.to, by, why);
    (void)ledger.commit(std::move(transaction));
    state_->checkpoints().note_commit(active->version.version, nullptr);
    return report;
  }
  throw LedgerBusy("the policy kept changing; nothing was done, retry");
}

std::string Curating::source_of(const std::string& dataset) const {
  ledger::Snapshot view = state_->snapshot();
  const auto active = state_->active_policy(view);
  const Dataset& declared = active->policy.dataset(dataset);
  return declared.has_source() ? location(view, *active, declared) : "";
}

std::vector<ledger::Relocation> LedgerHistory::relocations(const std::string& dataset) const {
  std::vector<ledger::Relocation> found;
  state_->snapshot().each_relocation([&](const ledger::Relocation& relocation) {
    if (dataset.empty() || relocation.dataset == dataset) found.push_back(relocation);
  });
  return found;
}

}  // namespace epsilog::engine
