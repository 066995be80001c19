#include "batch.hpp"

#include <unistd.h>

#include <algorithm>

#include "batch_input.hpp"
#include "calculation.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "failure.hpp"
#include "form_choice.hpp"
#include "json_output.hpp"
#include "printable.hpp"

namespace epsilog::command {
namespace {

/// Read at once: little, so that how far the reading is tells how far the rows are.
constexpr std::size_t kPieceMax = 4096;

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

std::string column_name(const OptionSpec& option) {
  return std::string(option.name.substr(2));
}

std::vector<std::string> column_choices(const VerbSpec& verb) {
  std::vector<std::string> names;
  for (const OptionUse& use : verb.options) {
    if (use.name != "--batch") names.emplace_back(use.name.substr(2));
  }
  return names;
}

const OptionSpec& option_of_column(const VerbSpec& verb, const std::string& name) {
  const std::vector<std::string> choices = column_choices(verb);
  if (std::find(choices.begin(), choices.end(), name) == choices.end()) {
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
    throw UsageError("--batch: unknown column '" + name.substr(0, 60) + "'; the columns of " +
                     std::string(verb.words) + " are " + list);
  }
  return *find_option("--" + name);
}

std::vector<const OptionSpec*> input_columns(const VerbSpec& verb, const engine::CsvRecords& header) {
  if (header.malformed()) {
    throw UsageError("--batch: the first line must name the columns, in UTF-8 and correctly quoted");
  }
  std::vector<const OptionSpec*> inputs;
  for (const std::string_view field : header.fields()) {
    const std::string name(field);
    const OptionSpec& option = option_of_column(verb, name);
    if (std::find(inputs.begin(), inputs.end(), &option) != inputs.end()) {
      throw UsageError("--batch: the column '" + std::string(field) + "' is there twice");
    }
    inputs.push_back(&option);
  }
  return inputs;
}

Columns columns_of(const VerbSpec& verb, const Arguments& defaults, const engine::CsvRecords& header) {
  Columns columns;
  columns.inputs = input_columns(verb, header);
  OptionNames options;
  for (const OptionSpec* option : columns.inputs) {
    options.push_back(option->name);
    columns.names.push_back(column_name(*option));
  }
  const std::vector<const Form*> forms = possible_forms(verb, given_options(verb, defaults), options);
  for (const Form* form : forms) {
    for (const std::string_view result : form->results) {
      if (std::find(columns.names.begin(), columns.names.end(), result) == columns.names.end()) {
        columns.names.emplace_back(result);
      }
    }
  }
  return columns;
}

void calculate_row(const VerbSpec& verb, const Arguments& defaults, const Columns& columns, Row& row) {
  Arguments arguments = defaults;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (!row.cells[i].empty()) set_option(arguments, *columns.inputs[i], row.cells[i]);
  }
  const auto given = given_options(verb, arguments);
  const Form& form = chosen_form(verb, given);
  row.calculation = form.calculate(arguments);
  row.results = form.results;
}

/// What a row's content can bring about; anything else is no matter of the row.
bool concerns_the_row(const Failure& failure) {
  return failure.exit == ExitCode::usage;
}

Row answered(const VerbSpec& verb, const Arguments& defaults, const Columns& columns,
             const engine::CsvRecords& record, std::size_t line) {
  Row row;
  row.line = line;
  row.cells.resize(columns.inputs.size());
  try {
    if (record.malformed()) throw UsageError("not a record of CSV: check its quotes and that it is UTF-8");
    const auto& fields = record.fields();
    for (std::size_t i = 0; i < std::min(fields.size(), row.cells.size()); ++i) row.cells[i] = fields[i];
    if (fields.size() != row.cells.size()) {
      throw UsageError("has " + std::to_string(fields.size()) + " cells, the header " +
                       std::to_string(row.cells.size()));
    }
    calculate_row(verb, defaults, columns, row);
  } catch (const std::exception& error) {
    row.failure = describe(error);
    if (!concerns_the_row(*row.failure)) throw;
    row.failure->message = printable("line " + std::to_string(line) + ": " + row.failure->message);
  }
  return row;
}

std::string quoted_if_needed(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + quoted_if_needed(cells[i]);
  return line + "\n";
}

std::string row_csv(const Columns& columns, const Row& row) {
  std::vector<std::string> cells = row.cells;
  cells.resize(columns.names.size());
  for (const std::string_view result : row.results) {
    const auto column = std::find(columns.names.begin(), columns.names.end(), result);
    EPSILOG_INVARIANT(column != columns.names.end());
    cells[static_cast<std::size_t>(column - columns.names.begin())] = text_of(row.calculation, result);
  }
  cells.push_back(row.failure ? row.failure->message : "");
  return csv_line(cells);
}

/// Only one line was empty where several cells are expected.
bool without_anything(const engine::CsvRecords& record, const Columns& columns) {
  return !record.malformed() && columns.inputs.size() > 1 && record.fields().size() == 1 &&
         record.fields()[0].empty();
}

engine::Progress progress_of(const BatchInput& input, Console& console) {
  const bool rows_on_the_terminal = isatty(STDOUT_FILENO) == 1;
  return input.has_size() && !rows_on_the_terminal ? console.progress("calculating") : engine::Progress{};
}

}  // namespace

ExitCode calculate_batch(const VerbSpec& verb, const Arguments& arguments, Console& console) {
  if (arguments.alphas.size() > 1) throw UsageError("--alpha: only once with --batch");
  BatchInput input(*arguments.batch);
  engine::CsvRecords records({}, [&](char* data, std::size_t size) {
    console.flush();
    return input.read(data, std::min(size, kPieceMax));
  });
  if (!records.next()) throw UsageError("--batch: the table is empty; its first line must name options");
  const Columns columns = columns_of(verb, arguments, records);
  if (!console.json()) {
    std::vector<std::string> names = columns.names;
    names.emplace_back("error");
    console.write(csv_line(names));
  }
  const engine::Progress progress = progress_of(input, console);
  std::size_t bad = 0;
  std::size_t rows = 0;
  for (std::size_t line = 2; records.next(); ++line) {
    if (without_anything(records, columns)) continue;
    const Row row = answered(verb, arguments, columns, records, line);
    console.write(!console.json() ? row_csv(columns, row)
                  : row.failure   ? row_error_json(row.line, *row.failure)
                                  : row_json(row.line, row.calculation.figures));
    ++rows;
    if (row.failure) ++bad;
    if (progress) progress(input.fraction_read());
  }
  console.end_progress();
  if (bad == 0) return ExitCode::done;
  console.message(std::to_string(bad) + " of " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
                  (bad == 1 ? " is" : " are") + " bad; each says why in its error");
  return ExitCode::invalid;
}

}  // namespace epsilog::command
