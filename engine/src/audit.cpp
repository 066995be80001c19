// `epsilog audit verify` and `epsilog recover`: what the file is, then what its history says.
#include "audit_fold.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/ledger/inspection.hpp"

namespace epsilog::engine {
namespace {

void check_count(const char* what, const ledger::Counts& counts, std::vector<AuditFault>& faults) {
  if (counts.claimed == counts.rows && counts.rows == counts.last && (counts.rows == 0 || counts.first == 1))
    return;
  faults.push_back({what, "count_differs",
                    std::to_string(counts.claimed) + " were recorded, " + std::to_string(counts.rows) +
                        " are there, numbered " + std::to_string(counts.first) + " to " +
                        std::to_string(counts.last)});
}

void check_file(ledger::Inspection& inspection, std::vector<AuditFault>& faults) {
  for (std::string& difference : inspection.schema_differences()) {
    faults.push_back({"schema", "schema_changed", std::move(difference)});
  }
  for (std::string& message : inspection.storage_faults(true)) {
    faults.push_back({"storage", "storage_damaged", std::move(message)});
  }
  for (std::string& message : inspection.reference_faults()) {
    faults.push_back({"references", "reference_broken", std::move(message)});
  }
  const ledger::LedgerFacts facts = inspection.facts();
  check_count("decisions", facts.decisions, faults);
  check_count("policy versions", facts.policy_versions, faults);
  check_count("limit changes", facts.limit_changes, faults);
  check_count("clock events", facts.clock_events, faults);
  check_count("schema migrations", facts.schema_migrations, faults);
  check_count("accounts", facts.accounts, faults);
  check_count("limit removals", facts.limit_removals, faults);
  check_count("relocations", facts.relocations, faults);
  for (ledger::OrderFault& fault : inspection.event_faults()) {
    faults.push_back({"event " + std::to_string(fault.seq), "event_order", std::move(fault.message)});
  }
  for (std::string& message : inspection.clock_faults()) {
    faults.push_back({"clock", "clock_changed", std::move(message)});
  }
  for (ledger::OrderFault& fault : inspection.lifecycle_faults()) {
    faults.push_back(
        {"decision number " + std::to_string(fault.seq), "lifecycle_broken", std::move(fault.message)});
  }
}

using Visit = std::function<void(const ReplayedDecision&)>;

/// What the fold says of one decision, apart from what it said before.
ReplayedDecision replayed(AuditFold& fold, const ledger::StoredDecision& stored,
                          const std::vector<AuditFault>& faults) {
  const std::size_t before = faults.size();
  fold.decision(stored);
  ReplayedDecision result;
  result.seq = stored.seq;
  result.decision_id = stored.id;
  result.created_at = stored.created_at;
  result.outcome = ledger::outcome_name(stored.draft.outcome);
  result.rules = stored.rules;
  result.policy_version = stored.draft.policy_version;
  result.policy_sha256 = fold.policy_sha256(stored.draft.policy_version);
  result.faults.assign(faults.begin() + static_cast<std::ptrdiff_t>(before), faults.end());
  return result;
}

void check_history(ledger::Snapshot& view, ledger::Inspection& inspection, AuditReport& report,
                   const Visit& visit, const Progress& progress) {
  AuditFold fold(report.faults, report.notes);
  for (const ledger::SchemaMigration& migration : view.schema_migrations()) fold.schema_migration(migration);
  view.each_clock_event([&fold](const ledger::ClockEvent& event) { fold.clock_event(event); });
  view.each_policy_version([&fold](const ledger::PolicyVersion& version) { fold.policy_version(version); });
  view.each_limit_change([&fold](const ledger::LimitChange& change) { fold.limit_change(change); });
  view.each_limit_removal([&fold](const ledger::LimitRemoval& removal) { fold.limit_removal(removal); });
  fold.accounts(view.accounts(""));
  const std::int64_t total = view.decisions();
  inspection.each_decision(
      [&](const ledger::StoredDecision& stored) {
        const ReplayedDecision decision = replayed(fold, stored, report.faults);
        if (visit) visit(decision);
        ++report.records;
        if (progress && report.records % 1024 == 0) {
          const accounting::DefaultFloatingPoint floating_point;
          progress(static_cast<double>(report.records) / static_cast<double>(total));
        }
      },
      [&report](const ledger::MalformedRecord& record) {
        ++report.records;
        report.faults.push_back(
            {"decision number " + std::to_string(record.seq), "record_unreadable", record.message});
      });
  view.each_open(
      "", [&fold](const ledger::StoredDecision& stored) { fold.listed_open(stored.id); },
      [&fold](const ledger::MalformedRecord& record) { fold.listed_open(record.id); });
  fold.finish();
}

}  // namespace

AuditReport audit_replay(const std::string& ledger_path, const Visit& visit, const Progress& progress) {
  const ledger::Ledger ledger = ledger::Ledger::open_read_only(ledger_path);
  ledger::Snapshot view = ledger.snapshot();
  AuditReport report;
  try {
    ledger::Inspection inspection(view);
    check_file(inspection, report.faults);
    check_history(view, inspection, report, visit, progress);
  } catch (const LedgerCorrupt& error) {
    report.faults.push_back({"storage", "storage_damaged", error.what()});
  }
  report.ok = report.faults.empty();
  return report;
}

AuditReport audit_verify(const std::string& ledger_path, const Progress& progress) {
  AuditReport report = audit_replay(ledger_path, {}, progress);
  if (const auto reason = ledger::Ledger::open_read_only(ledger_path).poisoned()) {
    report.faults.push_back(
        {"ledger", std::string(kPoisoned), *reason + "; nobody can write to it until `epsilog recover`"});
    report.ok = false;
  }
  return report;
}

RecoverReport recover(const std::string& ledger_path, const EngineOptions& options) {
  const ledger::RecoveryState state = ledger::Ledger::recovery_state(ledger_path);
  if (!state.poisoned) return {};
  if (state.rebooted && state.problems.empty()) {
    const AuditReport report = audit_replay(ledger_path, {});  // the mark is what is to be cleared
    if (!report.ok) {
      const AuditFault& first = report.faults.front();
      throw LedgerCorrupt(
          "the ledger does not verify, so it stays poisoned: " + std::to_string(report.faults.size()) +
          " faults, the first in " + first.record + ": " + first.message);
    }
  }
  ledger::Ledger::clear_poison(ledger_path,
                               options.ledger_options());  // refuses, saying why, unless all of that holds
  return {.was_poisoned = true, .reason = state.reason};
}

}  // namespace epsilog::engine
