#include "report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "amounts.hpp"
#include "answer_text.hpp"
#include "burn_down_picture.hpp"
#include "epsilog/ledger/digest.hpp"
#include "reaccount_output.hpp"
#include "released_text.hpp"
#include "report_text.hpp"

namespace epsilog::command {
namespace {

using engine::Answer;
using engine::DecisionSort;
using engine::LedgerReport;

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--ground:#fff;--shade:#f3f4f6;--edge:#d0d7de;--left:#2563a8;
--fill:#dbe8f6;--held:#f2d9a8;--good:#1a6b35;--bad:#a1151f}
@media (prefers-color-scheme:dark){:root{--ink:#e3e6ea;--soft:#9aa4af;--ground:#14171b;--shade:#1e2329;--edge:#39414a;
--left:#79b0ea;--fill:#1f3a57;--held:#5c4718;--good:#6fd08c;--bad:#ff8f8a}}
*{box-sizing:border-box}
body{margin:2rem auto;max-width:70rem;padding:0 1.2rem;background:var(--ground);color:var(--ink);
font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--edge)}
h3{font-size:1rem;margin:1.4rem 0 .4rem;overflow-wrap:anywhere}p.soft,figcaption{color:var(--soft)}
.ok{color:var(--good)}.bad{color:var(--bad)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}dt{color:var(--soft)}dd{margin:0}
.t{overflow-x:auto;margin:.5rem 0}table{border-collapse:collapse;width:100%;font-size:.9em}.k table{width:auto}
.w,th{white-space:nowrap}th{text-align:left;background:var(--shade)}th,td{padding:.25rem .5rem;
border-bottom:1px solid var(--edge);vertical-align:top}
td{min-width:5.5rem;overflow-wrap:anywhere}th.n{text-align:right}td.n{min-width:0;text-align:right;white-space:nowrap;
font-variant-numeric:tabular-nums}td.c{min-width:17em}.c{font-family:ui-monospace,monospace;font-size:.92em;
overflow-wrap:anywhere}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));gap:1rem}
figure{margin:0;break-inside:avoid}svg{width:100%;height:auto;display:block}
svg text{font:11px system-ui,sans-serif;fill:var(--soft)}svg text.end{text-anchor:end}
svg .left{fill:var(--fill)}svg .held{fill:var(--held)}svg .line{fill:none;stroke:var(--left);stroke-width:1.6}
svg .limit{fill:none;stroke:var(--soft);stroke-width:1;stroke-dasharray:4 3}
svg .axis{fill:none;stroke:var(--edge);stroke-width:1}
@media print{:root{--ink:#000;--soft:#333;--ground:#fff;--shade:#eee;--edge:#999;--left:#000;--fill:#ddd;--held:#bbb;
--good:#000;--bad:#000}
body{margin:0;max-width:none;font-size:9.5pt}h2,h3{break-after:avoid}.t{overflow:visible}
table{font-size:.8em}th,td{padding:.15rem .3rem}td{min-width:4rem}td.c{min-width:14em}thead{display:table-header-group}
tr{break-inside:avoid}*{print-color-adjust:exact}}
)";

const Style kPageStyle = [] {
  Style style;
  style.utf8 = true;
  return style;
}();

/// Writes one part after the other.
class ReportWriter final {
 public:
  ReportWriter(const ReportSheet& sheet, const PageSink& sink)
      : sheet_(sheet), report_(sheet.report), sink_(sink) {}

  void write() {
    write_head();
    write_protection();
    write_verification();
    write_recoveries();
    write_ledger();
    write_checkpoints();
    write_budgets();
    write_releases();
    write_refusals();
    write_pending_requests();
    write_changes();
    write_accountants();
    write_unreadable_decisions();
    sink_("</main>\n</body>\n</html>\n");
  }

 private:
  void write_heading(const char* text) { sink_(fmt::format("<h2>{}</h2>\n", html(text))); }
  void write_heading(const char* text, std::int64_t count) {
    sink_(fmt::format("<h2>{} ({})</h2>\n", html(text), with_digit_groups(count)));
  }
  void write_subheading(const std::string& text) { sink_("<h3>" + html(text) + "</h3>\n"); }
  void write_paragraph(const std::string& text) { sink_("<p>" + html(text) + "</p>\n"); }
  void write_note(const std::string& text) { sink_("<p class=\"soft\">" + html(text) + "</p>\n"); }

  void write_head() {
    const std::string title =
        "Privacy budgets of " + (report_.dataset.empty() ? sheet_.ledger : report_.dataset);
    sink_(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"/>\n"
        "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"/>\n");
    sink_("<title>" + html(title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<main>\n");
    sink_("<h1>" + html(title) + "</h1>\n");
  }

  void write_protection() {
    write_heading("Who is protected");
    for (const std::string& text : protection_texts(report_)) write_paragraph(text);
    if (report_.units.empty()) write_note("The active policy cannot be read, or declares no such dataset.");
  }

  void write_recoveries() {
    const std::vector<engine::LedgerEvent> events = recoveries(report_);
    if (events.empty()) return;
    write_heading("Put back and recovered");
    write_note(
        "Where history was taken back, what was recorded in between is in no table below, and was not "
        "charged.");
    write_event_table(events);
  }

  void write_event_table(const std::vector<engine::LedgerEvent>& events) {
    HtmlTable table(sink_, {"at (UTC)", "after no.", "what", "by", "why"});
    for (const engine::LedgerEvent& event : events) {
      table.row({time_cell(second_text(event.at)), number_cell(with_digit_groups(event.after_decision)),
                 text_cell(event.what), text_cell(event.by), text_cell(event.why)});
    }
    table.end();
  }

  void write_faults(const char* what, const std::vector<engine::AuditFault>& list) {
    if (list.empty()) return;
    HtmlTable table(sink_, {"record", "code", what});
    for (const engine::AuditFault& one : list) {
      table.row({code_cell(one.record), code_cell(one.code), text_cell(one.message)});
    }
    table.end();
  }

  void write_unread_parts(const std::vector<engine::UnreadPart>& parts) {
    for (const engine::UnreadPart& one : parts) {
      sink_("<p class=\"bad\">" +
            html("Not whole, because it cannot be read: " + one.part + ": " + one.message) + "</p>\n");
    }
  }

  void write_verification() {
    write_heading("What verification says");
    const engine::AuditReport& audit = report_.audit;
    const std::string records = count_text(audit.records, "decision");
    if (audit.ok) {
      sink_("<p><strong class=\"ok\">Verified</strong>: " + html(records + ", nothing wrong.") + "</p>\n");
    } else {
      const auto count = static_cast<std::int64_t>(audit.faults.size());
      sink_("<p><strong class=\"bad\">Not verified</strong>: " +
            html(records + ", " + count_text(count, "fault") + ".") + "</p>\n");
    }
    write_faults("what is wrong", audit.faults);
    write_faults("notes", audit.notes);
    for (const std::string& sentence : known_by_sentences(audit)) write_note(sentence + ".");
    write_unread_parts(report_.unread);
    for (const std::string& remark : remarks(report_)) write_note(remark);
  }

  void write_ledger() {
    write_heading("The ledger");
    std::string facts = "<dl>\n" + html_fact("file", text_cell(sheet_.ledger));
    if (!report_.dataset.empty()) facts += html_fact("of it", text_cell("dataset " + report_.dataset));
    facts += html_fact("id", code_cell(report_.ledger_id));
    facts += html_fact("from", time_cell(utc_text(report_.begun_at)));
    facts += html_fact("to", time_cell(utc_text(report_.last_at)));
    facts += html_fact("decisions", text_cell(with_digit_groups(report_.decisions)));
    if (!report_.versions.empty()) {
      facts += html_fact("policy", text_cell(fmt::format("version {}", report_.versions.back().version)));
      facts += html_fact("its sha256", code_cell(report_.versions.back().sha256));
    }
    if (report_.tree) {
      facts +=
          html_fact("lines", text_cell(with_digit_groups(static_cast<std::int64_t>(report_.tree->size))));
      facts += html_fact("root", code_cell(ledger::hex_text(report_.tree->root)));
    }
    if (report_.poisoned) facts += html_fact("poisoned", text_cell(*report_.poisoned));
    sink_(facts + "</dl>\n");
  }

  void write_checkpoints() {
    write_heading("Checkpoints");
    if (const std::string uncovered = uncovered_text(sheet_); !uncovered.empty()) write_paragraph(uncovered);
    if (sheet_.checkpoints.empty()) {
      write_note("None was given: nothing that was kept elsewhere vouches for this file.");
      return;
    }
    write_paragraph("The ledger contains each of these, as it was signed.");
    HtmlTable table(sink_, {"origin", "lines", "root", "signatures"});
    for (const ContainedCheckpoint& held : sheet_.checkpoints) {
      const ledger::TreeHead& tree = held.checkpoint.tree;
      table.row({code_cell(held.checkpoint.origin),
                 number_cell(with_digit_groups(static_cast<std::int64_t>(tree.size))),
                 code_cell(ledger::hex_text(tree.root)), text_cell(signers_text(held.attestation))});
    }
    table.end();
  }

  void write_budgets() {
    write_heading("Budgets");
    for (auto first = report_.budgets.begin(); first != report_.budgets.end();) {
      const std::string& dataset = first->account.dataset;
      const auto last = std::find_if(first, report_.budgets.end(), [&dataset](const engine::BurnDown& one) {
        return one.account.dataset != dataset;
      });
      write_subheading("Dataset " + dataset);
      const std::span<const engine::BurnDown> of_dataset(first, last);
      write_budget_table(of_dataset);
      write_pictures(of_dataset);
      first = last;
    }
    for (const std::string& note : report_.notes) write_note(note);
  }

  void write_budget_table(std::span<const engine::BurnDown> budgets) {
    HtmlTable table(sink_, {"budget", "measure", "limit", "spent", "reserved", "remaining", "changes"});
    for (const engine::BurnDown& budget : budgets) {
      const wire::AccountTexts amounts = wire::texts_or_units(budget.account);
      table.row({text_cell(scope_words(budget.account.scope)), text_cell(budget.account.measure),
                 number_cell(budget.active ? amounts.limit : "no limit any more"), number_cell(amounts.spent),
                 number_cell(amounts.reserved), number_cell(budget.active ? amounts.remaining : ""),
                 number_cell(with_digit_groups(budget.changes - 1))});
    }
    table.end();
  }

  static std::string scope_words(const std::string& scope) {
    return scope.empty() ? "the whole dataset" : scope;
  }

  void write_pictures(std::span<const engine::BurnDown> budgets) {
    write_note(
        "What remained over time. The dashed line is the limit; what is reserved stands on top of what "
        "remains. An "
        "account that was opened later is drawn from the beginning of the ledger on.");
    sink_("<div class=\"pictures\">\n");
    for (const engine::BurnDown& budget : budgets) {
      sink_("<figure>" + burn_down_svg(budget, report_.span) + "<figcaption>" +
            html(scope_words(budget.account.scope) + ", " + budget.account.measure) +
            "</figcaption></figure>\n");
    }
    sink_("</div>\n");
  }

  void visit_decisions(DecisionSort sort, const std::function<void(const Answer&)>& visit) {
    if (const auto part = sheet_.visit_decisions(sort, visit)) broken_.push_back(*part);
  }

  /// A part that broke off says so below its table.
  void write_broken_parts() {
    write_unread_parts(broken_);
    broken_.clear();
  }

  void write_releases() {
    if (const std::string only = filter_text(sheet_.filter); !only.empty()) write_paragraph(only);
    write_heading("Releases", sheet_.count(DecisionSort::released));
    if (sheet_.count(DecisionSort::released) == 0) return write_note("None.");
    write_note("± and brackets: the 95 % interval of the answer over these data, not of a population.");
    bool tables = false;
    HtmlTable table(sink_, {"no.", "at (UTC)", "decision", "question", "asked by", "value", "charged"});
    visit_decisions(DecisionSort::released, [&](const Answer& answer) {
      tables = tables || has_table(answer);
      table.row({number_cell(with_digit_groups(answer.recorded.seq)),
                 time_cell(second_text(answer.recorded.created_at)), code_cell(answer.recorded.decision_id),
                 text_cell(question_text(answer)), text_cell(asker_text(answer)),
                 number_cell(value_text(answer)), text_cell(charged_text(answer))});
    });
    table.end();
    write_broken_parts();
    if (tables) write_values();
  }

  static bool has_table(const Answer& answer) {
    return engine::has_values(answer) && (!answer.rows.empty() || !answer.planned.record.cells.empty());
  }

  /// The value and its interval, or how many there are in a table further down.
  static std::string value_text(const Answer& answer) {
    if (!engine::has_values(answer)) return "withheld";
    if (!answer.rows.empty())
      return count_text(static_cast<std::int64_t>(answer.rows.size()), "row") + ", below";
    const std::vector<ValueLine> lines = value_lines(answer, kPageStyle);
    if (has_table(answer)) return count_text(static_cast<std::int64_t>(lines.size()), "cell") + ", below";
    return lines.front().value + (lines.front().interval.empty() ? "" : " " + lines.front().interval);
  }

  /// A table for each release by groups, and for each row of a batch.
  void write_values() {
    write_heading("Values of tables and batches");
    visit_decisions(DecisionSort::released, [this](const Answer& answer) {
      if (!has_table(answer)) return;
      const std::string name =
          "No. " + with_digit_groups(answer.recorded.seq) + ", " + answer.recorded.decision_id;
      if (answer.rows.empty()) return write_value_table(name + ": " + question_text(answer), answer);
      for (std::size_t i = 0; i < answer.rows.size(); ++i) {
        write_value_table(name + ", row " + with_digit_groups(static_cast<std::int64_t>(i + 1)) + ": " +
                              question_text(answer.rows[i]),
                          answer.rows[i]);
      }
    });
    write_broken_parts();
  }

  void write_value_table(const std::string& title, const Answer& answer) {
    write_subheading(title);
    sink_("<div class=\"k\">");
    const bool by_cells = !answer.planned.record.cells.empty();
    if (by_cells) {
      HtmlTable table(sink_, {"cell", "value", "95 % interval"});
      for (const ValueLine& line : value_lines(answer, kPageStyle)) {
        table.row({text_cell(line.cell), number_cell(line.value), number_cell(line.interval)});
      }
      table.end();
    } else {
      HtmlTable table(sink_, {"value", "95 % interval"});
      for (const ValueLine& line : value_lines(answer, kPageStyle)) {
        table.row({number_cell(line.value), number_cell(line.interval)});
      }
      table.end();
    }
    sink_("</div>\n");
  }

  void write_refusals() {
    write_heading("Refusals", sheet_.count(DecisionSort::refused));
    if (sheet_.count(DecisionSort::refused) == 0) return write_note("None.");
    HtmlTable table(sink_, {"no.", "at (UTC)", "decision", "question", "asked by", "asked", "why"});
    visit_decisions(DecisionSort::refused, [&](const Answer& answer) {
      table.row({number_cell(with_digit_groups(answer.recorded.seq)),
                 time_cell(second_text(answer.recorded.created_at)), code_cell(answer.recorded.decision_id),
                 text_cell(question_text(answer)), text_cell(asker_text(answer)),
                 text_cell("epsilon " + accounting::text(answer.planned.record.requested)),
                 lines_cell(reason_texts(answer))});
    });
    table.end();
    write_broken_parts();
  }

  void write_pending_requests() {
    write_heading("Reservations and approvals", sheet_.count(DecisionSort::waiting));
    if (sheet_.count(DecisionSort::waiting) == 0) return write_note("None.");
    HtmlTable table(sink_, {"no.", "at (UTC)", "decision", "what", "by", "asked by", "question",
                            "holds or charges", "about", "why"});
    visit_decisions(DecisionSort::waiting, [&](const Answer& answer) {
      table.row({number_cell(with_digit_groups(answer.recorded.seq)),
                 time_cell(second_text(answer.recorded.created_at)), code_cell(answer.recorded.decision_id),
                 text_cell(step_text(answer)), text_cell(actor_text(answer)), text_cell(asker_text(answer)),
                 text_cell(question_text(answer)), text_cell(charged_text(answer)),
                 code_cell(answer.recorded.parent), text_cell(answer.recorded.why)});
    });
    table.end();
    write_broken_parts();
  }

  static std::string account_words(const ledger::AccountName& account) {
    return account.measure + " of " + account.dataset + (account.scope.empty() ? "" : ", " + account.scope);
  }

  void write_changes() {
    write_heading("Who changed what");
    write_policies();
    write_limits();
    write_relocations();
    write_other_changes();
  }

  void write_policies() {
    write_subheading("Versions of the policy");
    HtmlTable table(sink_, {"version", "at (UTC)", "by", "why", "what it loosened", "sha256"});
    for (const engine::AppliedVersion& version : report_.versions) {
      const engine::LedgerEvent* event = event_of_version(report_, version.version);
      table.row({number_cell(std::to_string(version.version)), time_cell(second_text(version.at)),
                 text_cell(version.by), text_cell(event == nullptr ? "" : event->why),
                 lines_cell(event == nullptr ? std::vector<std::string>{} : event->looser),
                 code_cell(version.sha256)});
    }
    table.end();
  }

  void write_limits() {
    write_subheading("Limits that changed");
    if (report_.limit_changes.empty() && report_.limit_removals.empty()) return write_note("None.");
    HtmlTable table(sink_, {"at (UTC)", "policy", "budget", "from", "to", "by", "why"});
    for (const auto& [account, change] : report_.limit_changes) {
      table.row({time_cell(second_text(change.changed_at)),
                 number_cell(std::to_string(change.policy_version)), text_cell(account_words(account)),
                 number_cell(wire::amount_or_units(account.measure, change.old_limit)),
                 number_cell(wire::amount_or_units(account.measure, change.new_limit)), text_cell(change.by),
                 text_cell(change.why)});
    }
    for (const auto& [account, removal] : report_.limit_removals) {
      table.row({time_cell(second_text(removal.removed_at)),
                 number_cell(std::to_string(removal.policy_version)), text_cell(account_words(account)),
                 number_cell(""), number_cell("no limit any more"), text_cell(removal.by),
                 text_cell(removal.why)});
    }
    table.end();
  }

  void write_relocations() {
    if (report_.relocations.empty()) return;
    write_subheading("Sources that moved");
    write_note("That the same data stood there no audit can tell.");
    HtmlTable table(sink_, {"at (UTC)", "dataset", "to", "by", "why"});
    for (const ledger::Relocation& relocation : report_.relocations) {
      table.row({time_cell(second_text(relocation.at)), text_cell(relocation.dataset),
                 code_cell(relocation.path), text_cell(relocation.by), text_cell(relocation.why)});
    }
    table.end();
  }

  void write_other_changes() {
    if (!report_.keys.empty()) {
      write_subheading("Keys that the ledger names");
      write_note("For the history: who forges a ledger names keys in it too.");
      HtmlTable table(sink_, {"at (UTC)", "what", "key", "by", "why"});
      for (const ledger::KeyEvent& key : report_.keys) {
        table.row({time_cell(second_text(key.at)), text_cell(key.retired ? "retired" : "added"),
                   code_cell(key.verifier_key), text_cell(key.by), text_cell(key.why)});
      }
      table.end();
    }
    const std::vector<engine::LedgerEvent> events = other_events(report_);
    if (!events.empty()) {
      write_subheading("Who may ask, and what else happened");
      write_event_table(events);
    }
    if (report_.clock.empty()) return;
    write_subheading("The clock");
    HtmlTable table(sink_, {"ledger time (UTC)", "what", "wall clock", "by"});
    for (const ledger::ClockEvent& event : report_.clock) {
      table.row({time_cell(second_text(event.ledger_time)), text_cell(event.kind),
                 time_cell(second_text(event.wall_clock)), text_cell(event.by)});
    }
    table.end();
  }

  void write_accountants() {
    write_heading("The history under tighter accountants");
    write_note(std::string(engine::kReaccountLabel) + ". No limit and no balance follows from it.");
    for (const engine::Reaccount& answer : report_.accountants) {
      const std::string title = reaccount_heading(answer);
      const std::size_t end = title.find('\n');
      write_subheading(title.substr(0, end));
      for (std::size_t at = end + 1; at < title.size();) {
        const std::size_t next = std::min(title.find('\n', at), title.size());
        write_note(title.substr(at, next - at));
        at = next + 1;
      }
      HtmlTable table(sink_, {"accountant", reaccount_measure(answer), "less than charged", "parameters"});
      for (const ReaccountRow& row : reaccount_rows(answer)) {
        table.row({text_cell(row[0]), number_cell(row[1]), number_cell(row[2]), text_cell(row[3])});
      }
      table.end();
    }
  }

  void write_unreadable_decisions() {
    if (sheet_.unreadable.empty()) return;
    write_heading("Decisions that cannot be read");
    HtmlTable table(sink_, {"decision", "why"});
    for (const engine::UnreadableDecision& one : sheet_.unreadable) {
      table.row({code_cell(one.decision_id), text_cell(one.message)});
    }
    table.end();
  }

  const ReportSheet& sheet_;
  const LedgerReport& report_;
  const PageSink& sink_;
  std::vector<engine::UnreadPart> broken_;
};

}  // namespace

void write_report_page(const ReportSheet& sheet, const PageSink& sink) {
  ReportWriter(sheet, sink).write();
}

}  // namespace epsilog::command
