#include "plan_batch.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "accounts_text.hpp"
#include "answer_json.hpp"
#include "ask_arguments.hpp"
#include "batch_table.hpp"
#include "csv_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "figures_json.hpp"
#include "forecast_output.hpp"
#include "opened_ledger.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

using Target = std::optional<std::string> AskArguments::*;

struct RequestColumn {
  std::string_view name;
  Target target;
};
constexpr std::array<RequestColumn, 10> kColumns = {{{"dataset", &AskArguments::dataset},
                                                     {"statistic", &AskArguments::statistic},
                                                     {"epsilon", &AskArguments::epsilon},
                                                     {"delta", &AskArguments::delta},
                                                     {"rho", &AskArguments::rho},
                                                     {"by", &AskArguments::by},
                                                     {"where", &AskArguments::where},
                                                     {"as", &AskArguments::principal},
                                                     {"purpose", &AskArguments::purpose},
                                                     {"key", &AskArguments::key}}};

/// What the rows of the written table have besides those of the one that was read.
const std::vector<std::string> kResults = {"decision",      "replayed", "charged_epsilon",
                                           "charged_delta", "reasons",  "error"};

std::vector<Target> targets_of(const BatchTable& table) {
  std::vector<Target> targets;
  for (const std::string& name : table.names()) {
    const auto column = std::find_if(kColumns.begin(), kColumns.end(),
                                     [&](const RequestColumn& candidate) { return candidate.name == name; });
    if (column == kColumns.end()) {
      std::string list;
      for (const RequestColumn& known : kColumns)
        list += (list.empty() ? "" : ", ") + std::string(known.name);
      throw UsageError("--batch: unknown column '" + name.substr(0, 60) + "'; the columns of plan are " +
                       list);
    }
    targets.push_back(column->target);
  }
  return targets;
}

engine::Request request_of_row(const AskArguments& defaults, const std::vector<Target>& targets,
                               const std::vector<std::string>& cells) {
  AskArguments arguments = defaults;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].empty()) arguments.*targets[i] = cells[i];
  }
  // In place of what the command line says for all rows, of whichever kind.
  const auto in_the_row = [&](Target target) {
    const auto at = std::find(targets.begin(), targets.end(), target);
    return at != targets.end() && !cells[static_cast<std::size_t>(at - targets.begin())].empty();
  };
  if (in_the_row(&AskArguments::rho)) {
    if (!in_the_row(&AskArguments::epsilon)) arguments.epsilon.reset();
    if (!in_the_row(&AskArguments::delta)) arguments.delta.reset();
  } else if (in_the_row(&AskArguments::epsilon)) {
    arguments.rho.reset();
  }
  for (const RequestColumn& required : {kColumns[0], kColumns[1], kColumns[2]}) {
    const bool replaced = required.target == &AskArguments::epsilon && arguments.rho;
    if (!(arguments.*required.target) && !replaced) {
      throw UsageError(std::string(required.name) + ": is neither in the row nor on the command line");
    }
  }
  return request_of(arguments, Asking::plan);
}

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
  cells.insert(cells.end(), {decision_word(answer), answer.recorded.replayed ? "true" : "false",
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
  PlannedTable(const AskArguments& arguments, Console& console, engine::PlanSequence sequence)
      : arguments_(arguments), console_(console), sequence_(std::move(sequence)) {}

  BatchSummary plan(BatchTable& table, const std::vector<Target>& targets) {
    if (!console_.json()) {
      std::vector<std::string> names = table.names();
      names.insert(names.end(), kResults.begin(), kResults.end());
      console_.write(csv_line(names));
    }
    const accounting::Callback<void(double)> progress = table.progress("planning");
    while (table.next()) {
      plan_row(table, targets);
      if (progress) progress(table.fraction_read());
    }
    console_.end_progress();
    return summary_;
  }
  [[nodiscard]] std::vector<ledger::AccountState> accounts() const { return sequence_.accounts(); }

 private:
  void plan_row(const BatchTable& table, const std::vector<Target>& targets) {
    ++summary_.rows;
    try {
      table.check_row();
      const engine::Answer answer = sequence_.next(request_of_row(arguments_, targets, table.cells()), {});
      ++(answer.recorded.granted ? summary_.granted : summary_.denied);
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

  const AskArguments& arguments_;
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
  const std::vector<Target> targets = targets_of(table);
  const engine::Engine engine = open_for_reading(ledger, console);

  PlannedTable planned(arguments, console, engine.plan_sequence());
  const BatchSummary summary = planned.plan(table, targets);
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
