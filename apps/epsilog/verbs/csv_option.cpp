#include "csv_option.hpp"

#include <algorithm>
#include <utility>

#include "printable.hpp"
#include "usage_error.hpp"
#include "verb.hpp"

namespace epsilog::command {
namespace {

constexpr std::size_t kShownMax = 60;

/// Whether CSV is asked for.
bool asks_for_csv(const CommandLine& line) {
  if (!line.has("--format")) return false;
  const std::string& word = line.text("--format");
  if (word != "table" && word != "csv") {
    throw UsageError("--format: '" + printable(word.substr(0, kShownMax)) + "' must be table or csv");
  }
  if (line.has("--json")) throw UsageError("--format: not with --json; give either");
  return word == "csv";
}

}  // namespace

VerbSpec with_rows(VerbSpec verb, std::function<CsvRows(const CommandLine& line)> rows) {
  verb.options.push_back(option_use("--format", OptionStorage::text, false, ""));
  verb.run = [run = std::move(verb.run), rows = std::move(rows)](const CommandLine& line, Console& console) {
    if (!asks_for_csv(line)) return run(line, console);
    if (CsvRows table = rows(line)) console.write_as(std::move(table));
    const ExitCode exit = run(line, console);
    console.write("");  // the header, where there was no row
    return exit;
  };
  return verb;
}

VerbSpec with_rows(VerbSpec verb, CsvRows (*rows)()) {
  return with_rows(std::move(verb), [rows](const CommandLine&) { return rows(); });
}

CsvRows value_rows_of(const CommandLine& line) {
  return value_rows(std::max<std::size_t>(line.count("--alpha"), 1));
}

}  // namespace epsilog::command
