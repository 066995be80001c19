// audit verify, audit replay.
#include <fmt/format.h>

#include "csv_option.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/audit_limits.hpp"
#include "epsilog/engine/ledger_events.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "evidence_arguments.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "released_text.hpp"
#include "report_json.hpp"
#include "report_text.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct VerifyArguments : LedgerArguments {
  std::optional<std::string> storage;
};

engine::StorageCheck storage_argument(const std::optional<std::string>& name) {
  if (!name || *name == "full") return engine::StorageCheck::full;
  if (*name == "quick") return engine::StorageCheck::quick;
  if (*name == "none") return engine::StorageCheck::none;
  throw UsageError("--storage: '" + name->substr(0, 60) + "' must be full, quick or none");
}

/// What cannot be read is a fault that the audit finds; here it stays unsaid.
wire::VerifiedLedger verified_ledger(const std::string& ledger) {
  wire::VerifiedLedger examined;
  try {
    ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
    const ledger::LedgerFacts facts = ledger::Inspection(view).facts();
    examined.ledger_id = facts.ledger_id;
    examined.policy_versions = facts.policy_versions.rows;
    examined.accounts = facts.accounts.rows;
    const ledger::PolicyVersion active = view.active_policy();
    examined.policy_sha256 = active.sha256;
    examined.policy_version = active.version;
    for (engine::LedgerEvent& event : engine::ledger_events(view)) {
      if (is_recovery(event) || !event.looser.empty()) examined.events.push_back(std::move(event));
    }
  } catch (const LedgerCorrupt&) {
  }
  return examined;
}

ExitCode audit_verify(const VerifyArguments& arguments, Console& console) {
  const engine::StorageCheck storage = storage_argument(arguments.storage);
  const std::string ledger = ledger_path(arguments);
  const engine::AuditReport report = engine::audit_verify(ledger, console.progress("verifying"), storage);
  console.end_progress();
  const wire::VerifiedLedger examined = verified_ledger(ledger);
  if (console.json()) {
    console.write(wire::audit_json(report, examined));
  } else if (!console.quiet()) {
    console.write(audit_text(report, examined, console.style()));
  }
  if (report.ok) return ExitCode::done;
  // That nobody knows what is on the disk is no contradiction in what can be read.
  const bool only_poisoned = report.faults.size() == 1 && report.faults.front().code == engine::kPoisoned;
  return only_poisoned ? ExitCode::try_again : ExitCode::not_verified;
}

ExitCode audit_replay(const LedgerArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  std::int64_t same = 0;
  const auto print = [&](const engine::ReplayedDecision& decision) {
    same += decision.faults.empty() ? 1 : 0;
    if (console.json()) {
      console.write(wire::replayed_json(decision));
    } else if (!console.quiet()) {
      console.write(fmt::format("{}  {}  {:<12}  policy {} {:.12}  {}\n", decision.decision_id,
                                decision.created_at, decision.outcome, decision.policy_version,
                                decision.policy_sha256,
                                decision.faults.empty() ? "same" : console.style().bad("differs")));
    }
  };
  const engine::AuditReport report = engine::audit_replay(ledger, print, console.progress("replaying"));
  console.end_progress();
  warn_if_poisoned(ledger, console);
  if (console.prints_rows()) {
    console.message(
        fmt::format("{} of {} the same", with_digit_groups(same), with_digit_groups(report.records)));
    for (const engine::AuditFault& fault : report.faults) {
      console.message(fault.record + ": " + fault.code + ": " + fault.message);
    }
  } else if (console.json()) {
    console.write(wire::replay_summary_json(report, same));
  } else if (!console.quiet()) {
    console.write(
        fmt::format("\n{} of {} the same\n", with_digit_groups(same), with_digit_groups(report.records)));
    if (!report.ok) console.write(audit_text(report, {}, console.style()));
  }
  return report.ok ? ExitCode::done : ExitCode::not_verified;
}

/// With the columns that no audit of the file alone can vouch for.
std::string_view verify_details() {
  static const std::string kDetails = [] {
    std::string text =
        "Recomputes balances from the charges, and decides every decision again under its own version of\n"
        "the policy. Exit code 6: something was changed, removed, reordered, inserted or damaged.\n"
        "\n"
        "--storage quick has SQLite run its quick_check in place of its integrity_check: whether the\n"
        "indices have what the tables have is not checked then. With none it checks nothing, as where\n"
        "the file was checked already. The report says so.\n"
        "\n"
        "Nothing in the file shows another value of these:";
    std::size_t width = 0;
    for (const auto& anchored : engine::anchored_columns()) width = std::max(width, anchored.column.size());
    const auto list = [&](bool logged) {
      for (const auto& anchored : engine::anchored_columns()) {
        if (anchored.logged != logged) continue;
        text += "\n  " + std::string(anchored.column) + std::string(width + 2 - anchored.column.size(), ' ') +
                std::string(anchored.what);
      }
    };
    list(false);
    text +=
        "\n\n"
        "Nor of one of these, where log and tree were made anew with it; a copy kept elsewhere does:";
    list(true);
    return text;
  }();
  return kDetails;
}

VerbSpec audit_verify_verb() {
  return Verb<VerifyArguments>{
      .words = "audit verify",
      .summary = "recompute everything in the ledger and name what is wrong",
      .examples =
          "epsilog audit verify --ledger backup/clinic.epsilog\n"
          "epsilog audit verify --storage quick",
      .details = verify_details(),
      .options = {{"--storage", &VerifyArguments::storage}, {"--ledger", &VerifyArguments::ledger}},
      .run = &audit_verify};
}

VerbSpec audit_replay_verb() {
  return Verb<LedgerArguments>{
      .words = "audit replay",
      .summary = "decide every decision again and say of each whether it comes out the same",
      .examples =
          "epsilog audit replay\n"
          "epsilog audit replay --json",
      .details =
          "Each is decided under its own version of the policy, on the balances of its place in history:\n"
          "the outcome, every reason, charge and parameter of the release must be the same to the last\n"
          "digit. With --json one object a line. Exit code 6: something differs.",
      .options = {{"--ledger", &LedgerArguments::ledger}},
      .run = &audit_replay};
}

}  // namespace

std::vector<VerbSpec> audit_verbs() {
  std::vector<VerbSpec> verbs{audit_verify_verb(), with_rows(audit_replay_verb(), &replayed_rows),
                              with_rows(audit_reaccount_verb(), &composed_rows), audit_report_verb()};
  for (const auto group : {&audit_line_verbs, &audit_checkpoint_verbs, &audit_witness_verbs}) {
    for (VerbSpec& verb : group()) verbs.push_back(std::move(verb));
  }
  return with_evidence_options(std::move(verbs));
}

}  // namespace epsilog::command
