#include "batch.hpp"

#include <algorithm>

#include "batch_table.hpp"
#include "calculator_form.hpp"
#include "csv_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "failure.hpp"
#include "figures_json.hpp"
#include "form_choice.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

/// The columns of the table that is read, and of the one that is written.
struct Columns {
  std::vector<const OptionSpec*> inputs;
  std::vector<std::string> names;  ///< of the inputs, then of the results that are no input
};

struct Row {
  std::size_t line = 0;
  std::vector<std::string> cells;  ///< as many as there are inputs
  Calculation calculation;
  std::vector<std::string_view> results;  ///< of the form that was asked
  std::optional<Failure> failure;
};

std::vector<std::string> column_choices(const VerbSpec& verb) {
  std::vector<std::string> names;
  for (const OptionUse& use : verb.options) {
    if (use.name() != "--batch") names.emplace_back(use.name().substr(2));
  }
  return names;
}

const OptionSpec& option_of_column(const VerbSpec& verb, const BatchTable& table, const std::string& name) {
  const std::vector<std::string> choices = column_choices(verb);
  if (std::find(choices.begin(), choices.end(), name) == choices.end()) {
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
    throw UsageError("--batch: unknown column '" + name.substr(0, 60) + "'" + table.advice_on(name, choices) +
                     "; the columns of " + std::string(verb.words) + " are " + list);
  }
  return *find_option("--" + name);
}

Columns columns_of(const std::vector<CalculatorForm>& forms, const CommandLine& defaults,
                   const BatchTable& table) {
  Columns columns;
  columns.names = table.names();
  OptionNames options;
  for (const std::string& name : table.names()) {
    columns.inputs.push_back(&option_of_column(*defaults.verb, table, name));
    options.push_back(columns.inputs.back()->name);
  }
  for (const std::size_t form : possible_forms(*defaults.verb, given_options(defaults), options)) {
    for (const std::string_view result : forms[form].results) {
      if (std::find(columns.names.begin(), columns.names.end(), result) == columns.names.end()) {
        columns.names.emplace_back(result);
      }
    }
  }
  return columns;
}

void calculate_row(const std::vector<CalculatorForm>& forms, const CommandLine& defaults,
                   const Columns& columns, Row& row) {
  CommandLine line = defaults;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (!row.cells[i].empty()) set_option(line, *columns.inputs[i], row.cells[i]);
  }
  const CalculatorForm& form = forms[chosen_form(*line.verb, given_options(line))];
  row.calculation = form.calculate(line);
  row.results = form.results;
}

/// What a row's content can bring about; anything else is no matter of the row.
bool concerns_the_row(const Failure& failure) {
  return failure.exit == ExitCode::usage;
}

Row calculated_row(const std::vector<CalculatorForm>& forms, const CommandLine& defaults,
                   const Columns& columns, const BatchTable& table) {
  Row row;
  row.line = table.line();
  row.cells = table.cells();
  try {
    table.check_row();
    calculate_row(forms, defaults, columns, row);
  } catch (const std::exception& error) {
    row.failure = describe(error);
    if (!concerns_the_row(*row.failure)) throw;
    row.failure->message = printable("line " + std::to_string(row.line) + ": " + row.failure->message);
  }
  return row;
}

std::string row_csv(const Columns& columns, const Row& row) {
  std::vector<std::string> cells = row.cells;
  make_printable(cells);
  cells.resize(columns.names.size());
  for (const std::string_view result : row.results) {
    const auto column = std::find(columns.names.begin(), columns.names.end(), result);
    EPSILOG_INVARIANT(column != columns.names.end());
    cells[static_cast<std::size_t>(column - columns.names.begin())] =
        text_of(row.calculation.figures, result);
  }
  cells.push_back(row.failure ? row.failure->message : "");
  return csv_line(cells);
}

}  // namespace

ExitCode calculate_batch(const std::vector<CalculatorForm>& forms, const CommandLine& line,
                         Console& console) {
  if (line.count("--alpha") > 1) throw UsageError("--alpha: only once with --batch");
  BatchTable table(line.text("--batch"), console);
  const Columns columns = columns_of(forms, line, table);
  if (!console.json()) {
    std::vector<std::string> names = columns.names;
    names.emplace_back("error");
    console.write(csv_line(names));
  }
  const accounting::Callback<void(double)> progress = table.progress("calculating");
  std::size_t bad = 0;
  std::size_t rows = 0;
  while (table.next()) {
    const Row row = calculated_row(forms, line, columns, table);
    console.write(!console.json() ? row_csv(columns, row)
                  : row.failure   ? row_error_json(row.line, *row.failure)
                                  : row_json(row.line, row.calculation.figures));
    ++rows;
    if (row.failure) ++bad;
    if (progress) progress(table.fraction_read());
  }
  console.end_progress();
  if (bad == 0) return ExitCode::done;
  console.message(std::to_string(bad) + " of " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
                  (bad == 1 ? " is" : " are") + " bad; each says why in its error");
  return ExitCode::invalid;
}

}  // namespace epsilog::command
