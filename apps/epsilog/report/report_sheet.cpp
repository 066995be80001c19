#include "report_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "answer_text.hpp"
#include "released_text.hpp"

namespace epsilog::command {

std::string count_text(std::int64_t count, const char* noun) {
  return with_digit_groups(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<std::string> remarks(const engine::LedgerReport& report) {
  std::vector<std::string> list;
  if (report.withheld > 0) {
    list.push_back(count_text(report.withheld, "release") + (report.withheld == 1 ? " is" : " are") +
                   " not known to be on the disk, or in the replica: no value of these is told.");
  }
  const bool told = !report.ledger_id.empty();
  if (told && report.recorded != report.audit.records && report.audit.ok) {
    list.push_back(fmt::format(
        "The ledger went on meanwhile: {} were verified, it had {} when it was read for the rest.",
        count_text(report.audit.records, "decision"), with_digit_groups(report.recorded)));
  }
  const auto thinned =
      std::count_if(report.budgets.begin(), report.budgets.end(), [](const engine::BurnDown& budget) {
        return budget.changes > static_cast<std::int64_t>(budget.points.size());
      });
  if (thinned > 0) {
    list.push_back(fmt::format(
        "{} {} drawn from fewer points than {} had: of each of equal parts of the time the "
        "first, the last, that with "
        "the least left and that with the most.",
        count_text(thinned, "budget"), thinned == 1 ? "is" : "are", thinned == 1 ? "it" : "they"));
  }
  return list;
}

std::string filter_text(const engine::DecisionFilter& filter) {
  if (filter.empty()) return "";
  std::string text = "Listed are only decisions";
  if (!filter.asker.empty()) text += " on what " + filter.asker + " asked";
  if (!filter.column.empty())
    text += " that can tell " + filter.column + " '" + filter.value + "' from other values";
  if (!filter.since.empty()) text += " from " + utc_text(filter.since) + " on";
  if (!filter.until.empty()) text += " before " + utc_text(filter.until);
  return text + ". Budgets, verification and events are of all.";
}

std::string charged_text(const engine::Answer& answer) {
  switch (answer.recorded.state) {
    case engine::RequestState::granted:
    case engine::RequestState::reserved:
    case engine::RequestState::forfeited:
      break;
    default:
      return "nothing";
  }
  std::string text = "epsilon " + answer.planned.record.charged.text();
  if (answer.planned.delta) text += "; delta " + answer.planned.delta->charged;
  if (answer.planned.rho) text += "; asked as rho " + answer.planned.rho->charged;
  return text;
}

std::vector<ValueLine> value_lines(const engine::Answer& answer, const Style& style) {
  if (!answer.rows.empty()) return {};
  if (answer.released.values.empty()) return {{"", "withheld", ""}};
  const bool grouped_by = !answer.planned.record.cells.empty();
  std::vector<ValueLine> lines;
  for (std::size_t i = 0; i < answer.released.values.size(); ++i) {
    ValueLine line{grouped_by ? cell_name(answer, i) : "", released_text(answer, i, style), ""};
    for (const engine::CellIntervals& one : answer.released.intervals) {
      line.interval = interval_or_whole_range(answer, i, one, one.each.at(i), style);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> reason_texts(const engine::Answer& answer) {
  std::vector<std::string> reasons;
  for (const engine::Reason& reason : answer.recorded.reasons) {
    reasons.push_back(std::string(engine::name(reason.code)) + ": " + reason_message(reason));
  }
  if (answer.recorded.reasons_count > reasons.size()) {
    reasons.push_back(fmt::format("and {} more", answer.recorded.reasons_count - reasons.size()));
  }
  return reasons;
}

std::string step_text(const engine::Answer& answer) {
  if (answer.recorded.state == engine::RequestState::data_accessed) return "data accessed";
  if (answer.recorded.state == engine::RequestState::pending) return "waits for approvals";
  return std::string(engine::name(answer.recorded.state));
}

std::string actor_text(const engine::Answer& answer) {
  switch (answer.recorded.state) {
    case engine::RequestState::pending:
    case engine::RequestState::reserved:
    case engine::RequestState::expired:
      return "";
    default:
      return answer.asked.principal;
  }
}

std::string asker_text(const engine::Answer& answer) {
  const std::string& asker = answer.asked.asker.empty() ? answer.asked.principal : answer.asked.asker;
  return asker + (answer.asked.purpose.empty() ? "" : ", for " + answer.asked.purpose);
}

std::string uncovered_text(const ReportSheet& sheet) {
  if (!sheet.report.tree) return "";
  std::uint64_t covered = 0;
  for (const ContainedCheckpoint& held : sheet.checkpoints)
    covered = std::max(covered, held.checkpoint.tree.size);
  const auto all = static_cast<std::int64_t>(sheet.report.tree->size);
  const auto left = all - static_cast<std::int64_t>(covered);
  if (left == 0) return "Every line is covered by a checkpoint.";
  return count_text(left, "line") + " of " + with_digit_groups(all) + (left == 1 ? " is" : " are") +
         " covered by no checkpoint" +
         (covered == 0
              ? "."
              : ": those from line " + with_digit_groups(static_cast<std::int64_t>(covered)) + " on.");
}

std::vector<std::string> protection_texts(const engine::LedgerReport& report) {
  std::vector<std::string> texts;
  for (const engine::ProtectedUnit& of : report.units) {
    const std::string one = of.unit.empty() ? "row" : of.unit;
    const std::string rows = of.unit.empty()
                                 ? "each row"
                                 : "all rows of one " + one + ", of which at most " +
                                       with_digit_groups(static_cast<std::int64_t>(of.max_rows)) + " count";
    const std::string change =
        of.replaced ? "were replaced by another's" : "were not in the data, or were added";
    texts.push_back(
        "Dataset " + of.dataset + " protects " + rows + ". If they " + change +
        ", the probability of any answer would change by a factor of at most e^epsilon: 1.11 for "
        "epsilon 0.1, 2.72 for epsilon 1, 20.1 for epsilon 3. Where a delta is charged, too, that "
        "holds but for a part of the answers of at most this probability. What several answers cost "
        "adds up, and each budget below limits the sum.");
  }
  texts.emplace_back(
      "Each value below has noise. The interval beside it contains the exact one with 95 % confidence. So a "
      "small count can be shown below 0. As it is, it is right on average.");
  return texts;
}

std::vector<engine::LedgerEvent> other_events(const engine::LedgerReport& report) {
  constexpr std::array<std::string_view, 4> kEventsShownElsewhere{"policy", "relocation", "key", "clock"};
  std::vector<engine::LedgerEvent> events;
  for (const engine::LedgerEvent& event : report.events) {
    const bool told = std::find(kEventsShownElsewhere.begin(), kEventsShownElsewhere.end(), event.kind) !=
                      kEventsShownElsewhere.end();
    if (!told && !is_recovery(event)) events.push_back(event);
  }
  return events;
}

std::vector<engine::LedgerEvent> recoveries(const engine::LedgerReport& report) {
  std::vector<engine::LedgerEvent> events;
  std::copy_if(report.events.begin(), report.events.end(), std::back_inserter(events), engine::is_recovery);
  return events;
}

const engine::LedgerEvent* event_of_version(const engine::LedgerReport& report, std::int64_t version) {
  std::int64_t number = 0;
  for (const engine::LedgerEvent& event : report.events) {
    if (event.kind == "policy" && ++number == version) return &event;
  }
  return nullptr;
}

std::string second_text(const std::string& time) {
  constexpr std::size_t kSeconds = 19;
  if (time.size() < kSeconds) return time;
  std::string text = time.substr(0, kSeconds);
  if (text[10] == 'T') text[10] = ' ';
  return text;
}

std::string utc_text(const std::string& time) {
  return time.empty() ? "" : second_text(time) + " UTC";
}

std::string signers_text(const engine::Attestation& attestation) {
  std::string text =
      attestation.signed_by_log ? "signed by the log's key" : "unsigned: no key of the log was given";
  for (const std::string& witness : attestation.witnesses) text += "; cosigned by " + witness;
  return text;
}

}  // namespace epsilog::command
