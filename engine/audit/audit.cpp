// `epsilog audit verify` and `epsilog recover`: what the file is, then what its history says.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "audit_fold.hpp"
#include "audit_snapshot.hpp"
#include "audit_threads.hpp"
#include "decision_read_ahead.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/recovery.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/lines_missing.hpp"

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

/// Runs one part of an audit. What makes it impossible is one more fault, and the other parts go on.
template <class Part>
void attempt(const char* what, std::vector<AuditFault>& faults, const Part& part) {
  try {
    part();
  } catch (const LedgerBusy&) {
    throw;
  } catch (const LedgerIo&) {
    throw;
  } catch (const LedgerUnusable&) {  // a file that may not be read
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    faults.push_back({what, "storage_damaged", error.what()});
  }
}

void check_counts(const ledger::LedgerFacts& facts, std::vector<AuditFault>& faults) {
  check_count("decisions", facts.decisions, faults);
  check_count("policy versions", facts.policy_versions, faults);
  check_count("limit changes", facts.limit_changes, faults);
  check_count("clock events", facts.clock_events, faults);
  check_count("accounts", facts.accounts, faults);
  check_count("limit removals", facts.limit_removals, faults);
  check_count("relocations", facts.relocations, faults);
}

AuditFault fault_of(const ledger::StoredFault& fault) {
  return {fault.record, fault.code, fault.message};
}

void check_storage(ledger::Inspection& inspection, StorageCheck wanted, std::vector<AuditFault>& faults) {
  if (wanted == StorageCheck::none) return;
  attempt("storage", faults, [&] {
    for (std::string& message : inspection.storage_faults(wanted == StorageCheck::full)) {
      faults.push_back({"storage", "storage_damaged", std::move(message)});
    }
  });
}

void check_file(ledger::Inspection& inspection, StorageCheck storage, std::vector<AuditFault>& faults) {
  attempt("schema", faults, [&] {
    for (std::string& difference : inspection.schema_differences()) {
      faults.push_back({"schema", "schema_changed", std::move(difference)});
    }
  });
  check_storage(inspection, storage, faults);
  attempt("references", faults, [&] {
    for (std::string& message : inspection.reference_faults()) {
      faults.push_back({"references", "reference_broken", std::move(message)});
    }
  });
  attempt("meta", faults, [&] { check_counts(inspection.facts(), faults); });
  attempt("clock", faults, [&] {
    for (std::string& message : inspection.clock_faults()) {
      faults.push_back({"clock", "clock_changed", std::move(message)});
    }
  });
  attempt("events", faults, [&] {
    for (ledger::OrderFault& fault : inspection.event_faults()) {
      faults.push_back({"event " + std::to_string(fault.seq), "event_order", std::move(fault.message)});
    }
    for (const ledger::StoredFault& fault : inspection.record_faults()) faults.push_back(fault_of(fault));
  });
  attempt("decisions", faults, [&] {
    for (ledger::OrderFault& fault : inspection.lifecycle_faults()) {
      faults.push_back(
          {"decision number " + std::to_string(fault.seq), "lifecycle_broken", std::move(fault.message)});
    }
  });
}

/// The part of the time that the file takes before its decisions, as measured on a million of them.
double share_of_file(StorageCheck storage) {
  switch (storage) {
    case StorageCheck::full:
      return 0.25;
    case StorageCheck::quick:
      return 0.15;
    case StorageCheck::none:
      return 0.1;
  }
  EPSILOG_INVARIANT(false);
}

using Visit = accounting::CallbackRef<void(const ReplayedDecision&)>;

/// What the fold says of one decision, apart from what it said before.
ReplayedDecision replay_decision(AuditFold& fold, const ledger::StoredDecision& stored,
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

/// What the decisions are read from: by whoever judges them, or ahead of it.
struct DecisionSource {
  ledger::Inspection& inspection;
  const ledger::HistoryEnd& end;
  std::chrono::milliseconds slice;
  std::optional<DecisionReadAhead> ahead;

  template <class... Visitors>
  void each(const Visitors&... visitors) {
    if (ahead) {
      ahead->each(visitors...);
    } else {
      inspection.each_decision(end, slice, visitors...);
    }
  }
};

/// Notes an approval for which no credential of the ledger vouches. `since`: when the first was added, "" if
/// none was.
///
/// A credential that is named before there was one is nobody's word but that of the line itself. From then on
/// CredentialAudit finds it. A claim can be told from a credential only where there are some.
void note_claimed_approval(const ledger::StoredDecision& stored, const std::string& since,
                           const CredentialAudit& credential_audit, AuditReport& report) {
  if (stored.draft.outcome != ledger::Outcome::approved) return;
  const bool before = since.empty() || stored.created_at <= since;
  const bool noted = stored.via == "claimed" ? !since.empty() && stored.created_at >= since
                                             : before && !credential_audit.has_credential_of(stored);
  if (!noted) return;
  report.claimed_approvals = report.claimed_approvals.value_or(0) + 1;
  if (report.claimed.size() < kClaimedApprovalsListed) {
    report.claimed.push_back({stored.id, stored.draft.principal, stored.created_at});
  }
}

/// `begun` is the share of the time that is over already.
void check_decisions(DecisionSource& source, AuditFold& fold, AuditReport& report,
                     std::vector<AuditFault>& faults, std::int64_t total, const Visit& visit,
                     const Progress& progress, double begun, const std::string& credentials_since) {
  source.each(
      [&](const ledger::StoredDecision& stored) {
        std::optional<ReplayedDecision> decision;
        attempt(stored.id.c_str(), faults, [&] { decision = replay_decision(fold, stored, faults); });
        if (visit && decision) visit(*decision);
        note_claimed_approval(stored, credentials_since, fold.credential_audit(), report);
        ++report.records;
        if (progress && report.records % 1024 == 0) {
          const accounting::DefaultFloatingPoint floating_point;
          progress(begun + (1 - begun) * static_cast<double>(report.records) / static_cast<double>(total));
        }
      },
      [&](const ledger::MalformedRecord& record) {
        ++report.records;
        fold.unreadable_decision(record.seq);
        faults.push_back(
            {"decision number " + std::to_string(record.seq), "record_unreadable", record.message});
      },
      [&faults](const ledger::StoredFault& fault) { faults.push_back(fault_of(fault)); });
}

void check_history(const AuditSnapshot& beginning, DecisionSource& source, AuditReport& report,
                   std::vector<AuditFault>& faults, const Visit& visit, const Progress& progress,
                   double begun) {
  AuditFold fold(source.inspection, faults);
  attempt("clock events", faults, [&] {
    beginning.clock_events.replay([&](const ledger::ClockEvent& row) { fold.clock_event(row); });
  });
  attempt("policy versions", faults, [&] {
    beginning.versions.replay([&](const ledger::PolicyVersion& version) {
      attempt("policy versions", faults, [&] { fold.policy_version(version); });
    });
  });
  attempt("relocations", faults, [&] {
    beginning.relocations.replay([&](const ledger::Relocation& relocation) {
      fold.relocation(relocation);
      report.relocations.push_back(relocation);
    });
  });
  attempt("key events", faults, [&] {
    beginning.unfounded_keys.replay([&](const AuditSnapshot::Unfounded& key) {
      faults.push_back({"key event " + std::to_string(key.first), "key_unfounded", key.second});
    });
  });
  std::string since;
  attempt("credential events", faults, [&] {
    beginning.first_credential.replay([&](const std::string& first) { since = first; });
    if (!since.empty()) report.claimed_approvals = report.ended_credentials = 0;
    beginning.credentials.replay([](const Credential&) {});
    fold.credentials(beginning.credentials.rows, since);
    beginning.unfounded_credentials.replay([&](const AuditSnapshot::Unfounded& credential) {
      faults.push_back({"credential event " + std::to_string(credential.first), "credential_unfounded",
                        credential.second});
    });
  });
  attempt("limit changes", faults, [&] {
    beginning.limit_changes.replay([&](const ledger::LimitChange& change) { fold.limit_change(change); });
  });
  attempt("limit removals", faults, [&] {
    beginning.limit_removals.replay(
        [&](const ledger::LimitRemoval& removal) { fold.limit_removal(removal); });
  });
  attempt("accounts", faults, [&] {
    for (const ledger::StoredFault& fault : beginning.of_accounts) faults.push_back(fault_of(fault));
    beginning.accounts.replay([](const ledger::AccountState&) {});
  });
  fold.accounts(beginning.accounts.rows);
  std::int64_t total = 1;
  attempt("meta", faults, [&] {
    beginning.decisions.replay([&](std::int64_t count) { total = std::max<std::int64_t>(1, count); });
  });
  attempt("decisions", faults,
          [&] { check_decisions(source, fold, report, faults, total, visit, progress, begun, since); });
  if (report.ended_credentials) report.ended_credentials = fold.credential_audit().ended_count();
  report.ended = fold.credential_audit().longest();
  attempt("open decisions", faults,
          [&] { beginning.open.replay([&](const std::string& id) { fold.listed_open(id); }); });
  attempt("accounts", faults, [&] { fold.finish(); });
}

/// Fewer decisions are judged in the time in which the connections of other threads are opened.
constexpr std::int64_t kLongHistory = 4'000;

/// As many as this process may run on, which is fewer than there are where somebody confined it.
int processors() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than the set has room for
}

bool pays(Threads threads, ledger::Snapshot& view) {
  if (threads != Threads::where_it_pays) return threads == Threads::several;
  return processors() > 1 && view.decision_count() >= kLongHistory;
}

/// Views of one history, the first for whoever judges: three where that pays, else one.
std::vector<ledger::Snapshot> views(const ledger::Ledger& ledger, Threads threads) {
  std::vector<ledger::Snapshot> found;
  found.push_back(ledger.snapshot());
  try {
    if (pays(threads, found.front())) {
      while (found.size() < 3) found.push_back(ledger.snapshot());
    }
  } catch (const Error&) {  // which is said where the first view is read
    while (found.size() > 1) found.pop_back();
  }
  return found;
}

/// One after the other.
void check_in_order(ledger::Snapshot& view, AuditReport& report, const Visit& visit, const Progress& progress,
                    std::chrono::milliseconds slice) {
  ledger::Inspection inspection(view);
  view.close_between_reads();
  check_file(inspection, report.storage, report.faults);
  const AuditSnapshot beginning = AuditSnapshot::of(view);
  DecisionSource source{inspection, beginning.end, slice, {}};
  check_history(beginning, source, report, report.faults, visit, progress, share_of_file(report.storage));
}

/// The file, the reading and the judging beside each other. Who is told of each decision is told once the
/// file was checked, as by one thread.
/// Returns  false if there can be no threads; nothing was done then.
bool check_side_by_side(std::vector<ledger::Snapshot>& views, AuditReport& report, const Visit& visit,
                        const Progress& progress, std::chrono::milliseconds slice) {
  ledger::Inspection inspection(views.at(0));
  const AuditSnapshot beginning = AuditSnapshot::of(views.at(0));
  for (ledger::Snapshot& view : views) view.close_between_reads();
  DecisionSource source{inspection, beginning.end, slice, {}};
  std::optional<WorkerThread> file;
  try {
    source.ahead.emplace(views.at(1), beginning.end, slice);
    file.emplace([&report, &view = views.at(2)] {
      ledger::Inspection of_file(view);
      check_file(of_file, report.storage, report.faults);
    });
  } catch (const std::system_error&) {
    return false;
  }
  if (visit) file->finish();
  std::vector<AuditFault> faults;
  const auto after_those_of_the_file = [&] {
    file->finish();
    report.faults.insert(report.faults.end(), faults.begin(), faults.end());
  };
  try {
    check_history(beginning, source, report, faults, visit, progress,
                  visit ? share_of_file(report.storage) : 0);
  } catch (...) {
    after_those_of_the_file();
    throw;
  }
  after_those_of_the_file();
  return true;
}

}  // namespace

AuditReport audit_replay_by(Threads threads, const std::string& ledger_path, Visit visit,
                            const Progress& progress, StorageCheck storage, Poison poison,
                            std::chrono::milliseconds slice, const ledger::Options& opening) {
  AuditReport report;
  report.storage = storage;
  try {
    const ledger::Ledger ledger = ledger::Ledger::open_read_only(ledger_path, opening);
    report.end_mark_state = ledger.end_mark_state();
    report.over_fuse = ledger.is_on_fuse();
    std::vector<ledger::Snapshot> found = views(ledger, threads);
    report.stale_replicas = found.front().stale_replicas();
    if (found.size() == 1 || !check_side_by_side(found, report, visit, progress, slice))
      check_in_order(found.front(), report, visit, progress, slice);
    const auto reason = poison == Poison::is_fault ? ledger.poison_reason() : std::nullopt;
    if (reason) {
      report.faults.push_back(
          {"ledger", std::string(kPoisoned), *reason + "; nobody can write to it until `epsilog recover`"});
    }
  } catch (const ledger::LinesMissing& error) {
    report.faults.push_back({"ledger", std::string(kLinesMissing), error.what()});
  } catch (const LedgerCorrupt& error) {  // a ledger, and so damaged that it cannot be opened
    report.faults.push_back({"ledger", "ledger_corrupt", error.what()});
  }
  report.ok = report.faults.empty();
  return report;
}

AuditReport audit_replay(const std::string& ledger_path, Visit visit, const Progress& progress,
                         StorageCheck storage) {
  return audit_replay_by(Threads::where_it_pays, ledger_path, visit, progress, storage);
}

AuditReport audit_verify(const std::string& ledger_path, const Progress& progress, StorageCheck storage) {
  return audit_replay_by(Threads::where_it_pays, ledger_path, {}, progress, storage, Poison::is_fault);
}

namespace {

/// Throws  LedgerCorrupt, ending with `consequence`, unless the ledger verifies. The mark of the poison does
/// not count: it is what is to be cleared.
void require_verified(const std::string& ledger_path, const ledger::Options& opening,
                      const std::string& consequence) {
  const AuditReport report = audit_replay_by(Threads::where_it_pays, ledger_path, {}, {}, StorageCheck::full,
                                             Poison::is_no_fault, kSlice, opening);
  if (report.ok) return;
  const AuditFault& first = report.faults.front();
  const std::string said = "the ledger does not verify, so " + consequence + ": " +
                           std::to_string(report.faults.size()) + " faults, the first in " + first.record +
                           ": " + first.message;
  throw LedgerCorrupt(said);
}

}  // namespace

RecoverReport recover(const std::string& ledger_path, const std::string& by, const std::string& why,
                      const EngineOptions& options, bool accept_rollback) {
  ledger::Options opening = options.ledger_options();
  opening.accept_missing_lines = accept_rollback;
  const ledger::RecoveryState state = ledger::Ledger::recovery_state(ledger_path);
  RecoverReport report{.was_poisoned = state.poisoned, .reason = state.reason};
  if (state.poisoned) {
    if (state.rebooted && state.problems.empty()) require_verified(ledger_path, opening, "it stays poisoned");
    // Refuses, saying why, unless all of that holds.
    ledger::Ledger::clear_poison(ledger_path, {.by = by, .why = why}, opening);
  }
  // Whoever is told that nothing has to be done goes on.
  if (!state.poisoned && !accept_rollback)
    (void)ledger::Ledger::open_read_only(ledger_path, opening).snapshot();
  if (accept_rollback) {
    require_verified(ledger_path, opening, "nothing was done");
    report.accepted = ledger::Ledger::accept_rollback(ledger_path, by, why, opening);
  }
  return report;
}

}  // namespace epsilog::engine
