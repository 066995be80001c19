// audit export, audit import: the records of a ledger as lines, its decisions as a table, and a ledger of
// lines.
#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "batch_table.hpp"
#include "checked_arguments.hpp"
#include "csv_text.hpp"
#include "decision_csv.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "printable.hpp"
#include "report_json.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct LineArguments : LedgerArguments {
  std::optional<std::string> from;
  std::optional<std::string> format;
  std::optional<std::string> lines;
  bool accept_rollback = false;  ///< of audit import
};

bool wants_csv(const LineArguments& arguments, const Console& console) {
  if (!arguments.format || *arguments.format == "lines") return false;
  if (*arguments.format != "csv") {
    throw UsageError("--format: '" + printable(arguments.format->substr(0, 60)) + "' must be lines or csv");
  }
  if (arguments.from) throw UsageError("--from counts lines, and does not go with --format csv");
  if (console.json()) throw UsageError("--format csv does not go with --json; `epsilog history --json` does");
  return true;
}

/// As history: what is not known to be on the disk comes without values, and what cannot be read is left out
/// and named.
ExitCode decisions_as_csv(const LineArguments& arguments, Console& console) {
  std::size_t unreadable = 0;
  const engine::Engine engine =
      open_for_reading(ledger_path(arguments), console, engine_options(arguments, console), unreadable);
  console.write(csv_line(decision_columns()));
  engine.history("", 0,
                 [&](const engine::Answer& answer) { console.write(csv_line(decision_cells(answer))); });
  return unreadable == 0 ? ExitCode::done : ExitCode::not_verified;
}

ExitCode audit_export(const LineArguments& arguments, Console& console) {
  if (wants_csv(arguments, console)) return decisions_as_csv(arguments, console);
  constexpr std::int64_t kMost = 999'999'999'999'999'999;
  const std::int64_t from = arguments.from ? whole_number_argument(*arguments.from, "--from", kMost, 0) : 0;
  const ledger::Ledger ledger = ledger::Ledger::open_read_only(
      ledger_path(arguments), engine_options(arguments, console).ledger_options());
  ledger::Snapshot view = ledger.snapshot();
  const auto size = static_cast<std::int64_t>(view.tree().size);
  if (from > size) {
    throw UsageError("--from: the ledger has " + std::to_string(size) + " lines, numbered from 0");
  }
  view.each_line(from, [&console](std::string_view line) {
    console.write(line);
    console.write("\n");
  });
  return ExitCode::done;
}

ExitCode audit_import(const LineArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  std::ifstream file;
  const bool from_input = *arguments.lines == "-";
  if (!from_input) {
    file.open(*arguments.lines, std::ios::binary);
    if (!file) throw UsageError("cannot read " + printable(*arguments.lines));
  }
  std::istream& input = from_input ? std::cin : file;
  const auto next_line = [&input]() -> std::optional<std::string> {
    std::string line;
    if (!std::getline(input, line)) return std::nullopt;
    // getline() takes a last line for one whether or not it ends.
    if (input.eof()) throw LedgerCorrupt("the last line does not end: the file is not whole");
    return line;
  };
  const std::int64_t lines = ledger::Ledger::import_lines(
      ledger, next_line, {.accept_missing_lines = arguments.accept_rollback});
  if (console.json()) {
    console.write(wire::import_json(ledger, lines));
  } else if (!console.quiet()) {
    console.write(fmt::format("{} lines imported into {}, which is read-only\n", lines, printable(ledger)));
  }
  return ExitCode::done;
}

VerbSpec audit_export_verb() {
  return Verb<LineArguments>{
      .words = "audit export",
      .summary = "every record as a line of canonical JSON, or every decision as a row of CSV",
      .examples =
          "epsilog audit export > clinic.lines\n"
          "epsilog audit export --from 1200\n"
          "epsilog audit export --format csv > decisions.csv",
      .details =
          "In the order of the log, from its first line or from the one of that number. The lines are the\n"
          "leaves of the ledger's tree (docs/record_format.md) and hold what the ledger holds, values\n"
          "included. Exit code 7: a decision is not known to be on the disk; nothing from it on is printed.\n"
          "\n"
          "With --format csv a header and a row for each decision, as history tells it: values that are not\n"
          "known to be on the disk are withheld, and a decision that cannot be read is named (exit code 6).\n"
          "An apostrophe stands before a text that begins with one, or that a spreadsheet would take for a\n"
          "formula.",
      .options = {{"--from", &LineArguments::from, false,
                   "from the line of that number on; they are numbered from 0"},
                  {"--format", &LineArguments::format, false,
                   "lines, every record (the default), or csv, the decisions as a table"},
                  {"--ledger", &LineArguments::ledger},
                  {"--wait", &LineArguments::wait}},
      .run = &audit_export};
}

VerbSpec audit_import_verb() {
  return Verb<LineArguments>{
      .words = "audit import",
      .summary = "make a read-only ledger of exported lines",
      .examples =
          "epsilog audit import clinic.lines --ledger copy.epsilog\n"
          "epsilog audit export --ledger clinic.epsilog | epsilog audit import - --ledger copy.epsilog",
      .details =
          "The new ledger shows and verifies as the one that was exported; nothing can be asked of it. A\n"
          "line that is none, or cannot follow those before it, is named, and nothing is made: exit code 6.",
      .positionals = {{"LINES", &LineArguments::lines, true, "the file of lines; - for standard input"}},
      .options = {{"--ledger", &LineArguments::ledger},
                  {"--accept-rollback", &LineArguments::accept_rollback}},
      .run = &audit_import};
}

}  // namespace

std::vector<VerbSpec> audit_line_verbs() {
  return {audit_export_verb(), audit_import_verb()};
}

}  // namespace epsilog::command
