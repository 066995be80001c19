#include "batch_table_rows.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "checked_arguments.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

struct RequestColumn {
  std::string_view name;
  std::optional<std::string> AskArguments::*target;
  bool of_batches = true;  ///< may differ from row to row of one
  bool of_requests = true;
};
constexpr std::array<RequestColumn, 15> kColumns = {
    {{"dataset", &AskArguments::dataset},
     {"statistic", &AskArguments::statistic},
     {"epsilon", &AskArguments::epsilon},
     {"delta", &AskArguments::delta},
     {"rho", &AskArguments::rho},
     {"by", &AskArguments::by},
     {"where", &AskArguments::where},
     {"totals", &AskArguments::totals},
     {"consistent", &AskArguments::row_consistent},
     {"suppress_below", &AskArguments::suppress_below},
     {"accuracy", &AskArguments::accuracy, true, false},
     {"assume_count", &AskArguments::assume_count, true, false},
     {"as", &AskArguments::principal, false},
     {"purpose", &AskArguments::purpose, false},
     {"key", &AskArguments::key, false}}};

[[noreturn]] void refuse_column(const BatchTable& table, const std::string& name,
                                BatchTableRows::RowMeaning of) {
  constexpr std::size_t kShownMax = 60;
  std::string list;
  std::vector<std::string> columns;
  for (const RequestColumn& known : kColumns) {
    if (!(of == BatchTableRows::RowMeaning::requests ? known.of_requests : known.of_batches)) continue;
    columns.emplace_back(known.name);
    list += (list.empty() ? "" : ", ") + columns.back();
  }
  throw UsageError("--batch: unknown column '" + name.substr(0, kShownMax) + "'" +
                   table.advice_on(name, columns) + "; the columns of " +
                   (of == BatchTableRows::RowMeaning::batch ? "a batch" : "plan") + " are " + list);
}

/// What is wrong with a row says where that stands.
template <class Work>
void name_line_in_errors(const BatchTable& table, const Work& work) {
  const std::string line = "--batch: line " + std::to_string(table.line()) + ": ";
  try {
    work();
  } catch (const UsageError& fault) {
    throw UsageError(line + fault.what());
  } catch (const InvalidParameter& fault) {
    throw InvalidParameter(line + fault.what());
  }
}

/// What is wanted in place of epsilons: then --epsilon is what they may add to.
void set_goal(const AskArguments& given, AskArguments& of_rows, BatchRequest& batch) {
  if (given.rho) throw UsageError("--rho: not with accuracies, which are found by epsilon");
  const std::vector<Rational> alphas = alpha_arguments(given.alphas);
  if (alphas.size() != 1) throw UsageError("--alpha: only once with accuracies");
  batch.alpha = alphas.front();
  if (given.epsilon) batch.total = positive_argument(*given.epsilon, "--epsilon");
  of_rows.epsilon.reset();
}

void add_row(const BatchTableRows& rows, bool seeks, BatchRequest& batch) {
  engine::Request& request = batch.request;
  if (request.rows.size() == engine::kBatchRowsMax) {
    throw InvalidParameter("a batch has at most " + std::to_string(engine::kBatchRowsMax) + " rows");
  }
  const AskArguments arguments = rows.arguments();
  engine::Request row = request_of(arguments, seeks ? AskKind::forecast : AskKind::plan);
  if (request.rows.empty()) request.dataset = row.dataset;
  if (row.dataset != request.dataset) {
    throw UsageError("dataset: '" + row.dataset + "' after '" + request.dataset +
                     "': a batch is about one dataset");
  }
  if (request.too_long.empty()) request.too_long = row.too_long;
  if (seeks) {
    if (!arguments.accuracy) throw UsageError("accuracy: is neither in the row nor on the command line");
    batch.accuracies.emplace_back(positive_argument(*arguments.accuracy, "accuracy"));
  }
  batch.assumed.push_back(assumed_count(arguments));
  request.rows.push_back({std::move(row.question), row.epsilon, row.delta, row.rho});
}

}  // namespace

BatchTableRows::BatchTableRows(const BatchTable& table, const AskArguments& defaults, RowMeaning of)
    : table_(table), defaults_(defaults) {
  for (const std::string& name : table.names()) {
    const auto column = std::find_if(kColumns.begin(), kColumns.end(), [&](const RequestColumn& candidate) {
      return candidate.name == name &&
             (of == RowMeaning::requests ? candidate.of_requests : candidate.of_batches);
    });
    if (column == kColumns.end()) refuse_column(table, name, of);
    targets_.push_back(column->target);
  }
}

AskArguments BatchTableRows::arguments() const {
  const std::vector<std::string> cells = table_.cells();
  AskArguments arguments = defaults_;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].empty()) arguments.*targets_[i] = cells[i];
  }
  // In place of what the command line says for all rows, of whichever kind.
  const auto in_the_row = [&](Target target) {
    const auto at = std::find(targets_.begin(), targets_.end(), target);
    return at != targets_.end() && !cells[static_cast<std::size_t>(at - targets_.begin())].empty();
  };
  if (in_the_row(&AskArguments::rho)) {
    if (!in_the_row(&AskArguments::epsilon)) arguments.epsilon.reset();
    if (!in_the_row(&AskArguments::delta)) arguments.delta.reset();
  } else if (in_the_row(&AskArguments::epsilon)) {
    arguments.rho.reset();
  }
  const bool seeks = defaults_.accuracy || has("accuracy");
  for (const RequestColumn& required : {kColumns[0], kColumns[1], kColumns[2]}) {
    const bool replaced = required.target == &AskArguments::epsilon && (arguments.rho || seeks);
    if (!(arguments.*required.target) && !replaced) {
      throw UsageError(std::string(required.name) + ": is neither in the row nor on the command line");
    }
  }
  return arguments;
}

engine::Request BatchTableRows::request() const {
  return request_of(arguments(), AskKind::plan);
}

bool BatchTableRows::has(std::string_view column) const {
  return std::find(table_.names().begin(), table_.names().end(), column) != table_.names().end();
}

BatchRequest batch_request(const AskArguments& arguments, AskKind kind, Console& console) {
  if (arguments.value) throw UsageError("--value: not with --batch, which is computed from the data source");
  if (arguments.data_token) throw UsageError("--data-token: not with --batch, which is computed here");
  BatchRequest batch{request_without_question(arguments, kind)};
  BatchTable table(*arguments.batch, console);
  AskArguments defaults = arguments;
  set_delta(arguments, batch.request);  // of the whole; a row has its own in its column
  defaults.delta.reset();
  const bool seeks = arguments.accuracy ||
                     BatchTableRows(table, arguments, BatchTableRows::RowMeaning::batch).has("accuracy");
  if (seeks) set_goal(arguments, defaults, batch);
  const BatchTableRows rows(table, defaults, BatchTableRows::RowMeaning::batch);
  if (!seeks && kind != AskKind::plan && (arguments.assume_count || rows.has("assume_count"))) {
    throw UsageError("--assume-count: goes with accuracies, or with plan");
  }
  if (seeks && (rows.has("epsilon") || rows.has("rho"))) {
    throw UsageError("--batch: the columns epsilon and rho are what the column accuracy has found");
  }
  while (table.next()) {
    name_line_in_errors(table, [&] {
      table.check_row();
      add_row(rows, seeks, batch);
    });
  }
  if (batch.request.rows.empty()) throw UsageError("--batch: the table has no rows");
  return batch;
}

BatchRequest batch_or_question_request(const AskArguments& arguments, AskKind kind, Console& console) {
  if (arguments.batch) return batch_request(arguments, kind, console);
  if (arguments.accuracy) throw UsageError("--accuracy: goes with --batch; or see forecast");
  if (arguments.assume_count) throw UsageError("--assume-count: goes with --batch; or see plan");
  return BatchRequest{request_of(arguments, kind)};
}

engine::Request with_epsilons(BatchRequest asked, const engine::Engine& engine, Console& console) {
  if (asked.accuracies.empty()) return std::move(asked.request);
  engine::AccurateBatch found = engine.accurate_batch(std::move(asked.request), asked.accuracies, asked.alpha,
                                                      asked.total, asked.assumed);
  if (found.factor != 1 && !console.quiet()) {
    console.message("note: the accuracies are those wanted times " + accounting::text(found.factor) +
                    ", the least that the epsilons of all rows together allow");
  }
  return std::move(found.batch);
}

}  // namespace epsilog::command
