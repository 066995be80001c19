#include "report_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "answer_text.hpp"
#include "released_text.hpp"

namespace epsilog::command {

std::string counted(std::int64_t count, const char* noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<std::string> remarks(const engine::LedgerReport& report) {
  std::vector<std::string> list;
  if (report.withheld > 0) {
    list.push_back(counted(report.withheld, "release") + (report.withheld == 1 ? " is" : " are") +
                   " not known to be on the disk, or in the replica: no value of these is told.");
  }
  const bool told = !report.ledger_id.empty();
  if (told && report.recorded != report.audit.records && report.audit.ok) {
    list.push_back(fmt::format(
        "The ledger went on meanwhile: {} were verified, it had {} when it was read for the rest.",
        counted(report.audit.records, "decision"), grouped(report.recorded)));
  }
  const auto thinned =
      std::count_if(report.budgets.begin(), report.budgets.end(), [](const engine::BurnDown& budget) {
        return budget.changes > static_cast<std::int64_t>(budget.points.size());
      });
  if (thinned > 0) {
    list.push_back(
        fmt::format("{} {} drawn from fewer points than {} had: of each of equal parts of the time the "
                    "first, the last, that with "
                    "the least left and that with the most.",
                    counted(thinned, "budget"), thinned == 1 ? "is" : "are", thinned == 1 ? "it" : "they"));
  }
  return list;
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

namespace {

/// Of a batch: what each row asks, and its values.
std::vector<std::string> row_texts(const engine::Answer& batch) {
  std::vector<std::string> texts;
  for (engine::Answer row : batch.rows) {
    row.recorded.granted = true;
    for (const std::string& value : value_texts(row)) texts.push_back(question_text(row) + ": " + value);
  }
  return texts;
}

}  // namespace

std::vector<std::string> value_texts(const engine::Answer& answer) {
  if (!answer.recorded.granted) return {};
  if (!engine::has_values(answer)) return {"withheld"};
  const Style style;
  if (!answer.rows.empty()) return row_texts(answer);
  const bool grouped_by = !answer.planned.record.cells.empty();
  std::vector<std::string> values;
  for (std::size_t i = 0; i < answer.released.values.size(); ++i) {
    const std::string value = released_text(answer, i, style);
    values.push_back(grouped_by ? cell_name(answer, i) + ": " + value : value);
  }
  return values;
}

std::vector<std::string> reason_texts(const engine::Answer& answer) {
  std::vector<std::string> reasons;
  for (const engine::Reason& reason : answer.recorded.reasons) {
    reasons.push_back(std::string(engine::name(reason.code)) + ": " + told(reason));
  }
  if (answer.recorded.reasons_count > reasons.size()) {
    reasons.push_back(fmt::format("and {} more", answer.recorded.reasons_count - reasons.size()));
  }
  return reasons;
}

std::string step_text(const engine::Answer& answer) {
  if (answer.recorded.state == engine::RequestState::token_issued) return "token issued";
  if (answer.recorded.state == engine::RequestState::pending) return "waits for approvals";
  return std::string(engine::name(answer.recorded.state));
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
