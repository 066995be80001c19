#include "plan_batch.hpp"

#include "accounts_text.hpp"
#include "answer_json.hpp"
#include "ask_arguments.hpp"
#include "batch_table.hpp"
#include "batch_table_rows.hpp"
#include "csv_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "figures_json.hpp"
#include "forecast_output.hpp"
#include "ledger_opening.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

/// What the rows of the written table have besides those of the one that was read.
const std::vector<std::string> kResults = {"decision",      "replayed", "epsilon.charged",
                                           "delta.charged", "reasons",  "error"};

/// What a row's content can bring about; anything else is no matter of the row.
bool concerns_the_row(const std::exception& error) {
  return dynamic_cast<const UsageError*>(&error) != nullptr ||
         dynamic_cast<const InvalidParameter*>(&error) != nullptr ||
         dynamic_cast<const NotFound*>(&error) != nullptr ||
         dynamic_cast<const Underivable*>(&error) != nullptr;
}

/// The first few, since a request may cover very many blocks.
std::string codes(const engine::Answer& answer) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < answer.recorded.reasons.size(); ++i) {
    const engine::Reason& reason = answer.recorded.reasons[i];
    if (i == kMost) return text + "; and " + std::to_string(answer.recorded.reasons.size() - kMost) + " more";
    text += (text.empty() ? "" : "; ") + std::string(engine::name(reason.code));
    if (!reason.scope.empty()) text += " " + reason.scope;
    if (!reason.measure.empty()) text += " " + reason.measure;
  }
  return text;
}

std::string row_csv(std::vector<std::string> cells, const engine::Answer& answer) {
  make_printable(cells);
  const bool charged = answer.recorded.state == engine::RequestState::granted && !answer.recorded.replayed;
  const std::string delta = answer.planned.delta ? (charged ? answer.planned.delta->charged : "0") : "";
  cells.insert(cells.end(), {wire::decision_word(answer), answer.recorded.replayed ? "true" : "false",
                             charged ? answer.planned.record.charged.text() : "0", delta, codes(answer), ""});
  return csv_line(cells);
}

std::string bad_row_csv(std::vector<std::string> cells, const Failure& failure) {
  make_printable(cells);
  cells.resize(cells.size() + kResults.size() - 1);
  cells.push_back(failure.message);
  return csv_line(cells);
}

class PlannedTable {
 public:
  PlannedTable(Console& console, engine::PlanSequence sequence)
      : console_(console), sequence_(std::move(sequence)) {}

  BatchSummary plan(BatchTable& table, const BatchTableRows& rows) {
    if (!console_.json()) {
      std::vector<std::string> names = table.names();
      names.insert(names.end(), kResults.begin(), kResults.end());
      console_.write(csv_line(names));
    }
    const accounting::Callback<void(double)> progress = table.progress("planning");
    while (table.next()) {
      plan_row(table, rows);
      if (progress) progress(table.fraction_read());
    }
    console_.end_progress();
    return summary_;
  }
  [[nodiscard]] std::vector<ledger::AccountState> accounts() const { return sequence_.accounts(); }

 private:
  void plan_row(const BatchTable& table, const BatchTableRows& rows) {
    ++summary_.rows;
    try {
      table.check_row();
      const engine::Answer answer = sequence_.next(rows.request(), {});
      ++(answer.recorded.granted ? summary_.granted : summary_.refused);
      console_.write(console_.json() ? planned_row_json(table.line(), answer)
                                     : row_csv(table.cells(), answer));
    } catch (const std::exception& error) {
      if (!concerns_the_row(error)) throw;
      ++summary_.bad;
      Failure failure = describe(error);
      failure.message = printable("line " + std::to_string(table.line()) + ": " + failure.message);
      console_.write(console_.json() ? row_error_json(table.line(), failure)
                                     : bad_row_csv(table.cells(), failure));
    }
  }

  Console& console_;
  engine::PlanSequence sequence_;
  BatchSummary summary_;
};

std::string summary_text(const BatchSummary& summary) {
  std::string text = std::to_string(summary.granted) + " of " + std::to_string(summary.rows) +
                     (summary.rows == 1 ? " request" : " requests") + " would be granted";
  if (summary.bad > 0) {
    text += "; " + std::to_string(summary.bad) +
            (summary.bad == 1 ? " row is bad and says" : " rows are bad and say") + " why in its error";
  }
  return text;
}

}  // namespace

ExitCode plan_batch(const AskArguments& arguments, Console& console) {
  if (arguments.count) throw UsageError("--count: not with --batch");
  if (arguments.compare) throw UsageError("--compare: not with --batch");
  if (!arguments.alphas.empty()) throw UsageError("--alpha: not with --batch");
  const std::string ledger = ledger_path(arguments);
  BatchTable table(*arguments.batch, console);
  const BatchTableRows rows(table, arguments, BatchTableRows::RowMeaning::requests);
  const engine::Engine engine = open_for_reading(ledger, console);

  PlannedTable planned(console, engine.plan_sequence());
  const BatchSummary summary = planned.plan(table, rows);
  if (console.json()) {
    console.write(batch_summary_json(engine.ledger_id(), summary, planned.accounts()));
  } else {
    console.flush();
    console.message(summary_text(summary));
    if (!console.quiet() && !planned.accounts().empty()) {
      std::string balances = scarcest_text(planned.accounts(), console.message_style());
      balances.pop_back();  // its last line end
      console.message_line(balances);
    }
  }
  return summary.granted == summary.rows ? ExitCode::done : ExitCode::refused;
}

}  // namespace epsilog::command
