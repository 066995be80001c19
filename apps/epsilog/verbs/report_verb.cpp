// audit report: everything a ledger says of its history, as text, as JSON or as one page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "answer_json.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/ledger_report.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "evidence_arguments.hpp"
#include "filter_arguments.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "ledger_report_json.hpp"
#include "ledger_report_text.hpp"
#include "new_file.hpp"
#include "printable.hpp"
#include "report_page.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct ReportArguments : EvidenceArguments, FilterArguments {
  std::optional<std::string> dataset;
  std::optional<std::string> html;
};

/// Those that were given, held to the keys and to the ledger before anything takes long.
std::vector<ContainedCheckpoint> checkpoints_of(const ReportArguments& arguments, const std::string& ledger,
                                                Console& console) {
  std::vector<ContainedCheckpoint> held;
  if (!arguments.checkpoint) {
    require_checkpoint_named(arguments);
    return held;
  }
  const engine::TrustedKeys keys = trusted_keys(arguments);
  const std::vector<engine::Checkpoint> checkpoints = checkpoints_argument(*arguments.checkpoint);
  const std::vector<engine::Attestation> attestations = require_attestations(checkpoints, keys);
  ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    engine::require_contained(view, checkpoints[i]);
    held.push_back({checkpoints[i], attestations[i]});
  }
  if (!console.quiet()) warn_unsigned(keys, console);
  return held;
}

/// As the exit code of audit verify and, beyond that, of history.
ExitCode exit_code(const engine::LedgerReport& report, bool whole) {
  if (!whole) return ExitCode::not_verified;
  if (report.audit.ok) return ExitCode::done;
  const bool only_poisoned =
      report.audit.faults.size() == 1 && report.audit.faults.front().code == engine::kPoisoned;
  return only_poisoned ? ExitCode::try_again : ExitCode::not_verified;
}

/// The decisions of one report, each sort told when it is asked for, and what could not be.
class ReportDecisions final {
 public:
  ReportDecisions(std::string ledger, const engine::LedgerReport& report, engine::DecisionFilter filter,
                  engine::EngineOptions options, Console& console)
      : ledger_(std::move(ledger)),
        report_(report),
        filter_(std::move(filter)),
        options_(std::move(options)),
        console_(console) {}

  std::optional<engine::UnreadPart> visit_decisions(std::optional<engine::DecisionSort> sort,
                                                    const std::function<void(const engine::Answer&)>& visit) {
    options_.unreadable = [this](const engine::UnreadableDecision& decision) { leave_out(decision); };
    const auto part = engine::each_reported_decision(
        ledger_, report_, sort, options_,
        [&](const engine::Answer& answer) {
          if (lets_through(filter_, answer)) visit(answer);
          tell_progress(answer.recorded.seq);
        },
        alphas_);
    if (part) broken_ = true;
    named_ = true;
    ++times_;
    return part;
  }
  /// Intervals of what was released, from here on.
  void show_intervals() { alphas_ = {accounting::Exact(accounting::Rational(1, 20))}; }
  /// How many of each sort the filter lets through.
  [[nodiscard]] std::array<std::int64_t, 3> listed_counts() {
    if (filter_.empty()) return report_.counts;
    std::array<std::int64_t, 3> counts{};
    static_cast<void>(visit_decisions({}, [&counts](const engine::Answer& answer) {
      ++counts.at(static_cast<std::size_t>(sort_of(answer)));
    }));
    times_ = 0;
    return counts;
  }
  /// From here on; for as many calls of visit_decisions() as a page makes.
  void show_progress(accounting::Callback<void(double)> progress) { progress_ = std::move(progress); }

  [[nodiscard]] const std::vector<engine::UnreadableDecision>& unreadable() const { return unreadable_; }
  [[nodiscard]] bool is_complete() const { return !broken_ && unreadable_.empty() && report_.unread.empty(); }

 private:
  /// Each time decisions are told it is met again.
  void leave_out(const engine::UnreadableDecision& decision) {
    if (named_) return;
    unreadable_.push_back(decision);
    warn_of_unreadable(decision, console_);
  }

  void tell_progress(std::int64_t seq) {
    constexpr int kLists = 3;
    if (!progress_ || ++visited_ % 1024 != 0 || times_ >= kLists) return;
    const auto all = static_cast<double>(std::max<std::int64_t>(report_.recorded, 1));
    progress_((times_ + std::min(1.0, static_cast<double>(seq) / all)) / kLists);
  }

  std::string ledger_;
  const engine::LedgerReport& report_;
  engine::DecisionFilter filter_;
  engine::Alphas alphas_;
  engine::EngineOptions options_;
  Console& console_;
  std::vector<engine::UnreadableDecision> unreadable_;
  bool named_ = false;
  bool broken_ = false;
  accounting::Callback<void(double)> progress_;
  std::int64_t visited_ = 0;
  int times_ = 0;
};

void write_page(const ReportSheet& sheet, NewFile& file) {
  write_report_page(sheet, [&file](std::string_view text) { file.write(text); });
  file.finish();
}

std::string written_text(const engine::LedgerReport& report, const std::string& html, const Style& style) {
  const std::string verdict = report.audit.ok ? style.good("verified") : style.bad("not verified");
  return fmt::format("{}: the report of {} was written to {}\n", verdict,
                     count_text(report.decisions, "decision"), printable(html));
}

ExitCode audit_report(const ReportArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const engine::EngineOptions options = engine_options(arguments, console);
  const engine::DecisionFilter filter = filter_from_arguments(arguments);
  engine::ReportQuestion question;
  question.dataset = arguments.dataset.value_or("");
  if (arguments.html && ledger::is_name_of_ledger(*arguments.html, ledger)) {
    throw UsageError("--html: '" + printable(*arguments.html) + "' is the name of a file of the ledger");
  }
  const std::vector<ContainedCheckpoint> checkpoints = checkpoints_of(arguments, ledger, console);
  for (const ContainedCheckpoint& one : checkpoints) question.checkpoints.push_back(one.checkpoint);
  std::optional<NewFile> page;
  if (arguments.html) page.emplace("--html", *arguments.html);

  const engine::LedgerReport report =
      engine::ledger_report(ledger, question, options, console.progress("reporting"));
  console.end_progress();
  ReportDecisions decisions(ledger, report, filter, options, console);
  const auto listed_counts = decisions.listed_counts();
  const ReportSheet sheet{
      report,
      ledger,
      checkpoints,
      [&decisions](auto sort, const auto& visit) { return decisions.visit_decisions(sort, visit); },
      decisions.unreadable(),
      filter,
      listed_counts};
  if (page || !console.json()) decisions.show_intervals();
  if (page) {
    decisions.show_progress(console.progress("writing"));
    write_page(sheet, *page);
    console.end_progress();
    console.set_recorded_note(*arguments.html + " was written");
  }
  if (console.json()) {
    if (!page) {
      static_cast<void>(decisions.visit_decisions({}, [&console](const engine::Answer& answer) {
        console.write(wire::answer_json(answer, wire::AnswerKind::history));
      }));
    }
    console.write(ledger_report_json(sheet, report.audit.ok && decisions.is_complete(), arguments.html));
  } else if (page) {
    if (!console.quiet()) console.write(written_text(report, *arguments.html, console.style()));
  } else if (!console.quiet()) {
    print_report(sheet, console);
  } else {
    static_cast<void>(decisions.visit_decisions({}, [](const engine::Answer&) {}));  // for the exit code
  }
  return exit_code(report, decisions.is_complete());
}

}  // namespace

VerbSpec audit_report_verb() {
  return Verb<ReportArguments>{
      .words = "audit report",
      .summary = "what the ledger says of its whole history, as text or as a page",
      .examples =
          "epsilog audit report clinic | less\n"
          "epsilog audit report --html clinic.html\n"
          "epsilog audit report --checkpoint kept.checkpoint --vkey VKEY --html clinic.html",
      .details =
          "What audit verify finds, how every budget went down, each release with value and cost, each\n"
          "refusal, reservation and approval, who changed limits and why, and what the history cost under\n"
          "tighter accountants; also what each policy version loosened, recoveries, and their reasons.\n"
          "--by-asker, --since, --until and --column with --value choose which decisions are listed; all\n"
          "else is of the whole ledger. --html writes one file without scripts, which prints well, has dark\n"
          "colours where the reader has, and holds what the ledger holds, values included: it is for\n"
          "whoever may read the ledger. Exit codes are those of audit verify; 6 also where something\n"
          "cannot be read, which is named and hides nothing else.",
      .positionals = {any_dataset<ReportArguments>()},
      .options = {{"--html", &ReportArguments::html},
                  {"--by-asker", &ReportArguments::by_asker},
                  {"--since", &ReportArguments::since},
                  {"--until", &ReportArguments::until, false,
                   "only before then: 2027-01-31 or 2027-01-31T18:00:00Z, UTC"},
                  {"--column", &ReportArguments::column},
                  {"--value", &ReportArguments::value, false, "the value of --column"},
                  {"--ledger", &ReportArguments::ledger},
                  {"--wait", &ReportArguments::wait},
                  {"--checkpoint", &ReportArguments::checkpoint},
                  {"--vkey", &ReportArguments::vkey},
                  {"--witness", &ReportArguments::witnesses},
                  {"--require", &ReportArguments::require}},
      .run = &audit_report};
}

}  // namespace epsilog::command
