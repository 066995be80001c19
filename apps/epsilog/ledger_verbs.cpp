// budget, history, show, audit verify, recover.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "accounts_text.hpp"
#include "answer_json.hpp"
#include "answer_output.hpp"
#include "answer_text.hpp"
#include "audit_json.hpp"
#include "checked_arguments.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/recovery.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "history_text.hpp"
#include "ledger_json.hpp"
#include "opened_ledger.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {

ExitCode budget(const Arguments& arguments, Console& console) {
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);
  const std::vector<engine::BudgetAccount> accounts = engine.budget(arguments.dataset.value_or(""));
  const std::vector<std::string> notes = engine.notes(arguments.dataset.value_or(""));
  console.write(console.json() ? budget_json(engine.ledger_id(), accounts, notes)
                               : budget_text(accounts, console.style()) + notes_text(notes));
  return ExitCode::done;
}

namespace {

/// Relocations in their place between decisions, for people: JSON and --quiet list decisions only.
class Relocations final {
 public:
  Relocations(const engine::Engine& engine, const std::string& dataset, Console& console)
      : console_(console) {
    if (!console.json() && !console.quiet()) pending_ = engine.relocations(dataset);
  }

  /// Those since the decision written last, if it is of a part of the history.
  void write_before(std::int64_t seq, bool part) {
    for (; next_ < pending_.size() && pending_[next_].after_decision < seq; ++next_) {
      const bool shown = !part || begun_ || pending_[next_].after_decision == seq - 1;
      if (shown) console_.write(relocation_line(pending_[next_], console_.style()));
    }
    begun_ = true;
  }

 private:
  Console& console_;
  std::vector<ledger::Relocation> pending_;
  std::size_t next_ = 0;
  bool begun_ = false;
};

}  // namespace

ExitCode history(const Arguments& arguments, Console& console) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t limit = arguments.limit ? whole_number_argument(*arguments.limit, "--limit", kMost) : 0;
  std::size_t unreadable = 0;
  const engine::Engine engine =
      open_for_reading(ledger_path(arguments), console, engine_options(arguments), unreadable);
  Style style = console.style();
  if (console.quiet()) style.width = std::numeric_limits<unsigned>::max();  // a decision a line
  // Of an unknown dataset nothing is printed but the suggestion.
  bool headed = console.json() || console.quiet();
  const auto head = [&] {
    if (!std::exchange(headed, true)) console.write(history_heading(style));
  };
  Relocations relocations(engine, arguments.dataset.value_or(""), console);
  engine.history(arguments.dataset.value_or(""), limit, [&](const engine::Answer& answer) {
    head();
    relocations.write_before(answer.seq, limit > 0);
    console.write(console.json() ? answer_json(answer, AnswerKind::history) : history_line(answer, style));
  });
  head();
  relocations.write_before(std::numeric_limits<std::int64_t>::max(), false);
  return unreadable == 0 ? ExitCode::done : ExitCode::not_verified;
}

ExitCode show(const Arguments& arguments, Console& console) {
  const std::vector<Rational> alphas = alpha_arguments(arguments);
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = engine_options(arguments);
  const std::string id = decision_id_argument(arguments, ledger);
  const engine::Engine engine = open_for_reading(ledger, console, options);
  const engine::Answer answer = engine.show(id, alphas);
  warn_if_withheld(answer, console);
  if (console.json()) {
    console.write(answer_json(answer, AnswerKind::show));
  } else {
    const bool bare = console.quiet() && answer.granted;
    console.write(bare ? bare_values(answer) : decision_text(answer, console.style()));
  }
  return withheld(answer) ? ExitCode::try_again : ExitCode::done;
}

namespace {

/// A ledger too damaged to be read through is a finding of verification like any other.
engine::AuditReport verified(const std::string& ledger, const engine::Progress& progress) {
  try {
    return engine::audit_verify(ledger, progress);
  } catch (const LedgerCorrupt& error) {
    engine::AuditReport report;
    report.faults = {{"ledger", "ledger_corrupt", error.what()}};
    return report;
  }
}

std::string counted(std::int64_t count, const char* what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

/// What cannot be read is a fault that the audit finds; here it stays unsaid.
Examined examined_in(const std::string& ledger) {
  Examined examined;
  try {
    ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
    const ledger::LedgerFacts facts = ledger::Inspection(view).facts();
    examined.ledger_id = facts.ledger_id;
    examined.policy_versions = facts.policy_versions.rows;
    examined.accounts = facts.accounts.rows;
    const ledger::PolicyVersion active = view.active_policy();
    examined.policy_sha256 = active.sha256;
    examined.policy_version = active.version;
  } catch (const LedgerCorrupt&) {
  }
  return examined;
}

/// What was examined: whoever compares two copies, or remembers a hash, finds it here.
std::string examined_text(const Examined& examined) {
  if (examined.policy_version == 0) return "";
  return fmt::format("  ledger     {}, {}\n  policy     version {} of {}\n  sha256     {}\n",
                     printable(examined.ledger_id), counted(examined.accounts, "account"),
                     examined.policy_version, examined.policy_versions, printable(examined.policy_sha256));
}

/// What nobody can check, and a reader is to know.
std::string relocations_text(const std::vector<ledger::Relocation>& relocations, const Style& style) {
  if (relocations.empty()) return "";
  Table table(
      {{"after decision", Table::Align::right}, {"at"}, {"source of"}, {"relocated to"}, {"by"}, {"why"}});
  for (const ledger::Relocation& relocation : relocations) {
    table.add({std::to_string(relocation.after_decision), relocation.at, relocation.dataset, relocation.path,
               relocation.by, relocation.why});
  }
  return "\n" + table.text(style);
}

std::string audit_text(const engine::AuditReport& report, const Examined& examined, const Style& style) {
  const std::string records = counted(report.records, "decision");
  if (report.ok) {
    std::string text = style.good("verified") + ": " + records + ", nothing wrong\n" +
                       examined_text(examined) + relocations_text(report.relocations, style);
    if (report.notes.empty()) return text;
    Table table({{"record"}, {"code"}, {"what older rules allowed"}});
    for (const engine::AuditFault& note : report.notes) table.add({note.record, note.code, note.message});
    return text + "\n" + table.text(style);
  }
  Table table({{"record"}, {"code"}, {"what is wrong"}});
  for (const engine::AuditFault& fault : report.faults) table.add({fault.record, fault.code, fault.message});
  const auto count = static_cast<std::int64_t>(report.faults.size());
  return style.bad("not verified") +
         fmt::format(": {}, {}\n{}\n", records, counted(count, "fault"), examined_text(examined)) +
         table.text(style) + relocations_text(report.relocations, style);
}

}  // namespace

ExitCode audit_verify(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const engine::AuditReport report = verified(ledger, console.progress("verifying"));
  console.end_progress();
  const Examined examined = examined_in(ledger);
  if (console.json()) {
    console.write(audit_json(report, examined));
  } else if (!console.quiet()) {
    console.write(audit_text(report, examined, console.style()));
  }
  if (report.ok) return ExitCode::done;
  // That nobody knows what is on the disk is no contradiction in what can be read.
  const bool only_poisoned = report.faults.size() == 1 && report.faults.front().code == engine::kPoisoned;
  return only_poisoned ? ExitCode::try_again : ExitCode::not_verified;
}

ExitCode audit_replay(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  std::int64_t same = 0;
  const auto print = [&](const engine::ReplayedDecision& decision) {
    same += decision.faults.empty() ? 1 : 0;
    if (console.json()) {
      console.write(replayed_json(decision));
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
  if (console.json()) {
    console.write(replay_summary_json(report, same));
  } else if (!console.quiet()) {
    console.write(fmt::format("\n{} of {} the same\n", grouped(same), grouped(report.records)));
    if (!report.ok) console.write(audit_text(report, {}, console.style()));
  }
  return report.ok ? ExitCode::done : ExitCode::not_verified;
}

ExitCode recover(const Arguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const engine::RecoverReport report = engine::recover(ledger, engine_options(arguments));
  if (report.was_poisoned) console.made(ledger + " is usable again");
  if (console.json()) {
    console.write(recover_json(ledger, report));
  } else if (!console.quiet()) {
    const std::string name = printable(ledger);
    console.write(report.was_poisoned
                      ? fmt::format("{} verifies and is usable again; it had been poisoned: {}\n", name,
                                    printable(report.reason))
                      : fmt::format("{} is not poisoned: nothing to do\n", name));
  }
  return ExitCode::done;
}

}  // namespace epsilog::command
