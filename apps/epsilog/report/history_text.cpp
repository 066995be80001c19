#include "history_text.hpp"

#include <fmt/format.h>

#include "answer_text.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "report_sheet.hpp"

namespace epsilog::command {
namespace {

/// What is left for the question on a line of its own where the columns leave it less than this.
constexpr std::size_t kRoomForQuestion = 40;
constexpr std::size_t kIndent = 2;

/// "2024-03-12T09:30:00.123Z" to the second.
std::string second_of(const std::string& time) {
  constexpr std::size_t kSeconds = 19;
  if (time.size() < kSeconds) return printable(time);
  std::string text = time.substr(0, kSeconds);
  text[text.find('T') == std::string::npos ? 10 : text.find('T')] = ' ';
  return printable(text);
}

bool is_wide(std::size_t columns, const Style& style) {
  return style.width >= columns + kRoomForQuestion;
}

/// The columns, and behind or below them the question, with no word cut in two.
std::string row(const std::string& columns, const std::string& what, const Style& style) {
  const std::size_t taken = display_width(columns) + 2;
  if (is_wide(taken, style)) return columns + "  " + wrapped(what, style.width, taken, taken) + "\n";
  return columns + "\n" + std::string(kIndent, ' ') + wrapped(what, style.width, kIndent, 2 * kIndent) + "\n";
}

constexpr std::size_t kHistoryWidth = 26 + 2 + 19 + 2 + 9 + 2 + 14;
constexpr std::size_t kValueWidth = 2 + 16;

/// Of one decision, what stands in columns where the terminal is wide enough for them.
struct HistoryColumns {
  std::string id;
  std::string when;
  std::string outcome;
  std::string cost;
};

bool has_cost_column(const Style& style) {
  return style.width >= kHistoryWidth;
}

bool has_time_column(const Style& style) {
  return style.width >= kHistoryWidth - (2 + 14);
}

std::string columns_of(const HistoryColumns& of, const Style& style) {
  if (has_cost_column(style))
    return fmt::format("{:<26}  {:<19}  {:<9}  {:>14}", of.id, of.when, of.outcome, of.cost);
  if (has_time_column(style)) return fmt::format("{:<26}  {:<19}  {:<9}", of.id, of.when, of.outcome);
  return fmt::format("{:<26}  {:<9}", of.id, of.outcome);
}

/// What has no column, to stand before the question.
std::string without_column(const HistoryColumns& of, const Style& style) {
  std::string text;
  if (!has_time_column(style)) text += fmt::format("{}  ", of.when);
  if (!has_cost_column(style) && !of.cost.empty()) text += fmt::format("{}  ", of.cost);
  return text;
}

bool has_value_column(const Style& style) {
  return is_wide(kHistoryWidth + kValueWidth + 2, style);
}

std::string history_word(engine::RequestState state) {
  if (state == engine::RequestState::data_accessed) return "accessed";
  return std::string(engine::name(state));
}

/// The kind of a record in the column of outcomes.
std::string event_word(const std::string& kind) {
  if (kind == "relocation") return "relocated";
  if (kind == "credential") return "access";
  return kind.empty() ? "damaged" : kind;
}

const std::string& asker_of(const engine::Answer& answer) {
  return answer.asked.asker.empty() ? answer.asked.principal : answer.asked.asker;
}

/// Who did something about the request of another, and why; "" of what the asker did without a reason.
std::string act_text(const engine::Answer& answer) {
  std::string text;
  if (answer.asked.principal != asker_of(answer)) text += ", by " + answer.asked.principal;
  if (!answer.recorded.why.empty()) text += ": " + answer.recorded.why;
  return text;
}

/// "" where nothing was released.
std::string value_text(const engine::Answer& answer, const Style& style) {
  if (!answer.recorded.granted) return "";
  if (!engine::has_values(answer)) return "withheld";
  if (!answer.rows.empty()) return count_text(static_cast<std::int64_t>(answer.rows.size()), "row");
  if (answer.planned.record.cells.empty()) {
    const ValueLine line = value_lines(answer, style).front();
    return line.value + (line.interval.empty() ? "" : " " + line.interval);
  }
  return count_text(static_cast<std::int64_t>(answer.planned.record.cells.size()), "cell");
}

}  // namespace

std::string history_heading(const Style& style) {
  const HistoryColumns headings{"decision", "at (UTC)", "outcome", "charged"};
  const std::string columns = columns_of(headings, style);
  if (has_value_column(style))
    return style.faint(columns + fmt::format("  {:>16}  question", "value")) + "\n";
  return style.faint(columns) + "\n" +
         style.faint(std::string(kIndent, ' ') + without_column(headings, style) + "question: value") + "\n";
}

std::string history_line(const engine::Answer& answer, const Style& style) {
  const bool charged = answer.recorded.granted || answer.recorded.state == engine::RequestState::forfeited;
  const HistoryColumns of{answer.recorded.decision_id, second_of(answer.recorded.created_at),
                          history_word(answer.recorded.state),
                          charged ? answer.planned.record.charged.text() : "0"};
  std::string columns = columns_of(of, style);
  const std::string value = value_text(answer, style);
  std::string what = without_column(of, style) + question_text(answer) +
                     (answer.planned.delta ? " with delta " + answer.planned.delta->charged : "") + " for " +
                     printable(asker_of(answer)) + printable(act_text(answer));
  if (has_value_column(style)) {
    columns += fmt::format("  {:>16}", value.empty() ? "-" : value);
  } else if (!value.empty()) {
    what += ": " + value;
  }
  const std::string text = row(columns, what, style);
  return answer.recorded.granted ? text : style.faint(text.substr(0, text.size() - 1)) + "\n";
}

std::string event_text(const engine::LedgerEvent& event) {
  return event.what + (event.by.empty() ? "" : ", by " + event.by) +
         (event.why.empty() ? "" : ": " + event.why);
}

std::vector<std::string> event_details(const engine::LedgerEvent& event) {
  std::vector<std::string> details;
  for (const std::string& change : event.looser) details.push_back("looser: " + change);
  for (const std::string& limit : event.limits) details.push_back(limit);
  return details;
}

std::string event_lines(const engine::LedgerEvent& event, const Style& style) {
  const HistoryColumns of{"", second_of(event.at), event_word(event.kind), ""};
  std::string columns = columns_of(of, style);
  if (has_value_column(style)) columns += fmt::format("  {:>16}", "");
  std::string text = row(columns, without_column(of, style) + printable(event_text(event)), style);
  for (const std::string& detail : event_details(event)) {
    text += std::string(2 * kIndent, ' ') +
            wrapped(printable(detail), style.width, 2 * kIndent, 3 * kIndent) + "\n";
  }
  return style.faint(text.substr(0, text.size() - 1)) + "\n";
}

namespace {
std::string pending_columns(std::string_view id, std::string_view state, std::string_view deadline,
                            std::string_view cost) {
  return fmt::format("{:<26}  {:<15}  {:<19}  {:>14}", id, state, deadline, cost);
}
}  // namespace

std::string pending_heading(const Style& style) {
  const std::string columns = pending_columns("decision", "state", "until (UTC)", "would cost");
  if (is_wide(columns.size() + 2, style)) return style.faint(columns + "  question") + "\n";
  return style.faint(columns) + "\n" + style.faint(std::string(kIndent, ' ') + "question") + "\n";
}

std::string pending_line(const engine::Answer& answer, const Style& style) {
  const bool reserved = answer.recorded.state == engine::RequestState::reserved;
  return row(pending_columns(answer.recorded.decision_id,
                             reserved ? "reserved"
                                      : fmt::format("approved {} of {}", answer.recorded.approvals.size(),
                                                    answer.planned.approvals_required),
                             second_of(answer.recorded.deadline), answer.planned.record.charged.text()),
             question_text(answer) + " for " + printable(answer.asked.principal), style);
}

}  // namespace epsilog::command
