#include "ledger_report_text.hpp"

#include <fmt/format.h>

#include "accounts_text.hpp"
#include "amounts.hpp"
#include "answer_text.hpp"
#include "burn_down_picture.hpp"
#include "epsilog/ledger/digest.hpp"
#include "history_text.hpp"
#include "printable.hpp"
#include "reaccount_output.hpp"
#include "released_text.hpp"
#include "report_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using engine::Answer;
using engine::DecisionSort;
using engine::LedgerReport;

constexpr unsigned kCourseWidth = 48;
constexpr std::size_t kMargin = 4;

std::string fact(std::string_view name, const std::string& text) {
  return fmt::format("  {:<11}{}\n", name, printable(text));
}

class ReportPrinter final {
 public:
  ReportPrinter(const ReportSheet& sheet, Console& console)
      : sheet_(sheet), report_(sheet.report), console_(console), style_(console.style()) {}

  void print() {
    print_protection();
    print_verification();
    print_recoveries();
    print_ledger();
    print_budgets();
    if (const std::string only = filter_text(sheet_.filter); !only.empty()) {
      console_.write("\n");
      print_sentence(only);
    }
    print_decisions("releases", DecisionSort::released,
                    [this](const Answer& answer) { return cell_lines(answer); });
    print_decisions("refusals", DecisionSort::refused,
                    [](const Answer& answer) { return reason_texts(answer); });
    print_decisions("reservations and approvals", DecisionSort::waiting,
                    [](const Answer& answer) { return outcome_lines(answer); });
    print_changes();
    print_accountants();
  }

 private:
  void print_heading(const std::string& text) { console_.write("\n" + style_.bold(text) + "\n"); }
  void print_sentence(const std::string& text) {
    console_.write("  " + wrapped(printable(text), style_.width, 2, 2) + "\n");
  }
  void print_unread_parts(const std::vector<engine::UnreadPart>& parts) {
    for (const engine::UnreadPart& one : parts) {
      console_.write(style_.bad("  not whole") + ": " +
                     wrapped(printable(one.part + " cannot be read: " + one.message), style_.width, 13, 4) +
                     "\n");
    }
  }

  void print_protection() {
    for (const std::string& text : protection_texts(report_)) print_sentence(text);
    console_.write("\n");
  }

  void print_recoveries() {
    const std::vector<engine::LedgerEvent> list = recoveries(report_);
    if (list.empty()) return;
    print_heading("put back and recovered");
    print_events(list);
  }

  void print_events(const std::vector<engine::LedgerEvent>& list) {
    for (const engine::LedgerEvent& event : list) {
      console_.write(
          "  " + wrapped(printable(second_text(event.at) + "  " + event_text(event)), style_.width, 2, 4) +
          "\n");
    }
  }

  void print_verification() {
    console_.write(audit_text(report_.audit, {}, style_));
    print_unread_parts(report_.unread);
    for (const std::string& remark : remarks(report_)) print_sentence(remark);
  }

  void print_ledger() {
    print_heading("ledger");
    std::string facts = fact("file", sheet_.ledger) + fact("id", report_.ledger_id);
    if (!report_.dataset.empty()) facts += fact("of it", "dataset " + report_.dataset);
    facts += fact("from", utc_text(report_.begun_at)) + fact("to", utc_text(report_.last_at));
    facts += fact("decisions", with_digit_groups(report_.decisions));
    if (!report_.versions.empty()) {
      facts += fact("policy", fmt::format("version {}", report_.versions.back().version));
      facts += fact("sha256", report_.versions.back().sha256);
    }
    if (report_.tree) {
      facts += fact("lines", with_digit_groups(static_cast<std::int64_t>(report_.tree->size)));
      facts += fact("root", ledger::hex_text(report_.tree->root));
    }
    for (const ContainedCheckpoint& held : sheet_.checkpoints) {
      facts += fact("checkpoint",
                    fmt::format("of {}, which the ledger contains: {}",
                                count_text(static_cast<std::int64_t>(held.checkpoint.tree.size), "line"),
                                signers_text(held.attestation)));
    }
    if (sheet_.checkpoints.empty()) facts += fact("checkpoint", "none was given");
    facts += fact("", uncovered_text(sheet_));
    console_.write(facts);
  }

  void print_budgets() {
    print_heading("budgets");
    std::vector<engine::BudgetAccount> accounts;
    for (const engine::BurnDown& budget : report_.budgets)
      accounts.push_back({budget.account, budget.active});
    if (!accounts.empty()) console_.write(budget_text(accounts, style_) + "\n");
    console_.write(with_bars([this](unsigned width, const Style& style) { return courses(width, style); },
                             kCourseWidth, style_));
    if (!report_.notes.empty()) console_.write("\n");
    for (const std::string& note : report_.notes) print_sentence(note);
  }

  /// Nothing where there is no room for them.
  std::string courses(unsigned width, const Style& style) const {
    constexpr std::string_view kHeading = "what remained over time";
    Table table({{"dataset"},
                 {"scope"},
                 {"measure"},
                 {"changes", Table::Align::right},
                 {width >= kHeading.size() ? std::string(kHeading) : ""}});
    for (const engine::BurnDown& budget : report_.budgets) {
      table.add({budget.account.dataset, budget.account.scope, budget.account.measure,
                 with_digit_groups(budget.changes - 1),
                 width == 0 ? "" : burn_down_line(budget, report_.span, width, style)});
    }
    return table.empty() ? "" : table.text(style);
  }

  void print_decisions(const char* what, DecisionSort sort,
                       const std::function<std::vector<std::string>(const Answer&)>& more) {
    print_heading(fmt::format("{} ({})", what, with_digit_groups(sheet_.count(sort))));
    if (sheet_.count(sort) == 0) return;
    console_.write(history_heading(style_));
    const auto part = sheet_.visit_decisions(sort, [&](const Answer& answer) {
      console_.write(history_line(answer, style_));
      for (const std::string& line : more(answer)) {
        console_.write(std::string(kMargin, ' ') +
                       wrapped(printable(line), style_.width, kMargin, kMargin + 2) + "\n");
      }
    });
    if (part) print_unread_parts({*part});
  }

  /// Of a batch or a release by groups, which has no room for them in its line.
  [[nodiscard]] std::vector<std::string> cell_lines(const Answer& answer) const {
    const bool in_its_line = answer.rows.empty() && answer.planned.record.cells.empty();
    if (in_its_line || !engine::has_values(answer)) return {};
    std::vector<std::string> tables;
    if (answer.rows.empty()) tables.push_back(cells_of(answer));
    for (std::size_t i = 0; i < answer.rows.size(); ++i) {
      tables.push_back("row " + std::to_string(i + 1) + ", " + question_text(answer.rows[i]) + ": " +
                       cells_of(answer.rows[i]));
    }
    return tables;
  }

  /// "A: 120 ± 12; B: 80 ± 12"
  [[nodiscard]] std::string cells_of(const Answer& answer) const {
    std::string cells;
    for (const ValueLine& line : value_lines(answer, style_)) {
      cells += (cells.empty() ? "" : "; ") + (line.cell.empty() ? "" : line.cell + ": ") + line.value +
               (line.interval.empty() ? "" : " " + line.interval);
    }
    return cells;
  }

  /// What became of a request, by whom and why.
  static std::vector<std::string> outcome_lines(const Answer& answer) {
    const std::string actor = actor_text(answer);
    std::string text =
        step_text(answer) + (actor.empty() ? "; asked by " + asker_text(answer) : " by " + actor);
    if (!answer.recorded.parent.empty()) text += ", about " + answer.recorded.parent;
    if (!answer.recorded.why.empty()) text += ": " + answer.recorded.why;
    return {text};
  }

  void print_changes() {
    print_heading("who changed what");
    Table versions({{"policy", Table::Align::right}, {"at (UTC)"}, {"by"}, {"sha256"}});
    for (const engine::AppliedVersion& version : report_.versions) {
      versions.add({std::to_string(version.version), second_text(version.at), version.by,
                    style_.verbose ? version.sha256 : version.sha256.substr(0, 12)});
    }
    if (!versions.empty()) console_.write(versions.text(style_));
    for (const engine::AppliedVersion& version : report_.versions) print_loosened_limits(version.version);
    print_limits();
    print_other_changes();
  }

  /// The reason of a policy version, and what it loosened.
  void print_loosened_limits(std::int64_t version) {
    const engine::LedgerEvent* event = event_of_version(report_, version);
    if (event == nullptr || (event->why.empty() && event->looser.empty())) return;
    print_sentence("policy " + std::to_string(version) + (event->why.empty() ? "" : ": " + event->why));
    for (const std::string& change : event->looser) {
      console_.write("    " + wrapped(printable("looser: " + change), style_.width, 4, 6) + "\n");
    }
  }

  void print_limits() {
    Table table({{"at (UTC)"},
                 {"policy", Table::Align::right},
                 {"dataset"},
                 {"scope"},
                 {"measure"},
                 {"from", Table::Align::right},
                 {"to", Table::Align::right},
                 {"by"},
                 {"why"}});
    for (const auto& [account, change] : report_.limit_changes) {
      table.add({second_text(change.changed_at), std::to_string(change.policy_version), account.dataset,
                 account.scope, account.measure, wire::amount_or_units(account.measure, change.old_limit),
                 wire::amount_or_units(account.measure, change.new_limit), change.by, change.why});
    }
    for (const auto& [account, removal] : report_.limit_removals) {
      table.add({second_text(removal.removed_at), std::to_string(removal.policy_version), account.dataset,
                 account.scope, account.measure, "", "no limit any more", removal.by, removal.why});
    }
    if (!table.empty()) console_.write("\n" + table.text(style_));
  }

  void print_other_changes() {
    Table keys({{"at (UTC)"}, {"key"}, {""}, {"by"}, {"why"}});
    for (const ledger::KeyEvent& key : report_.keys) {
      keys.add({second_text(key.at), key.verifier_key, key.retired ? "retired" : "added", key.by, key.why});
    }
    if (!keys.empty()) console_.write("\n" + keys.text(style_));
    Table clock({{"ledger time (UTC)"}, {"clock"}, {"wall clock"}, {"by"}});
    for (const ledger::ClockEvent& event : report_.clock) {
      clock.add({second_text(event.ledger_time), event.kind, second_text(event.wall_clock), event.by});
    }
    if (!clock.empty()) console_.write("\n" + clock.text(style_));
    const std::vector<engine::LedgerEvent> list = other_events(report_);
    if (!list.empty()) console_.write("\n");
    print_events(list);
  }

  void print_accountants() {
    print_heading("under tighter accountants");
    print_sentence(std::string(engine::kReaccountLabel));
    for (const engine::Reaccount& answer : report_.accountants) {
      console_.write("\n" + reaccount_text(answer, style_));
    }
  }

  const ReportSheet& sheet_;
  const LedgerReport& report_;
  Console& console_;
  const Style& style_;
};

}  // namespace

void print_report(const ReportSheet& sheet, Console& console) {
  ReportPrinter(sheet, console).print();
}

}  // namespace epsilog::command
