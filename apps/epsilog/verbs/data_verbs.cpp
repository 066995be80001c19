// data check.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "data_json.hpp"
#include "epsilog/accounting/errors.hpp"
#include "ledger_arguments.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct DataArguments : PolicyFileArguments {
  std::optional<std::string> dataset;
};

/// A policy and the folder its relative source paths start from.
struct Declared {
  std::optional<engine::Engine>
      engine;  ///< of the ledger it is from, which is no source as long as it is open
  engine::Policy policy;
  std::string base_dir;
};

Declared declared(const DataArguments& arguments) {
  if (arguments.policy) {
    const std::string path = policy_path(arguments);
    return {std::nullopt, engine::Policy::read(path), std::filesystem::path(path).parent_path().string()};
  }
  auto engine = engine::Engine::open(ledger_path(arguments));
  engine::Policy policy = engine.active_policy();
  const std::string base_dir = engine.active_policy_version().base_dir;
  return {std::move(engine), std::move(policy), base_dir};
}

constexpr const char* kColumnsExplained =
    "  null: empty or said to be missing\n"
    "  unreadable: not of the type, so missing\n"
    "  out of bounds: clamped when summed\n"
    "  undeclared: the row is dropped when grouped by it\n";

std::string source_of(const engine::Dataset& dataset) {
  return dataset.csv ? dataset.csv->path : dataset.sqlite->path + ", table " + dataset.sqlite->table;
}

/// With the path of its source where that was relocated.
engine::Dataset where_found(const Declared& declared, engine::Dataset dataset) {
  if (!declared.engine) return dataset;
  std::string& written = dataset.csv ? dataset.csv->path : dataset.sqlite->path;
  const std::string found = declared.engine->source_of(dataset.name);
  if (found != (std::filesystem::path(declared.base_dir) / written).string()) written = found;
  return dataset;
}

/// "lines 4, 17 and 23", the last of them "…" where there are more.
std::string places_text(const engine::Dataset& dataset, const std::vector<std::uint64_t>& places,
                        std::uint64_t count) {
  const bool more = places.size() < count;
  std::string text = dataset.csv ? "line" : "row";
  if (count > 1) text += 's';
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool last = i > 0 && !more && i + 1 == places.size();
    text += (i == 0 ? " " : last ? " and " : ", ") + std::to_string(places[i]);
  }
  return more ? text + ", …" : text;
}

/// What makes answers other than the curator may expect, a sentence each.
std::string advice_text(const DatasetReport& report, const engine::Dataset& dataset) {
  const engine::DataReport& data = report.data;
  std::string text;
  if (data.malformed > 0) {
    text += fmt::format("  malformed: {}\n", places_text(dataset, data.malformed_at, data.malformed));
  }
  for (const auto& column : data.columns) {
    if (column.unreadable == 0) continue;
    text +=
        fmt::format("  {}: no {} in {}\n", column.column, engine::name(dataset.column(column.column)->type),
                    places_text(dataset, column.unreadable_at, column.unreadable));
  }
  if (data.declared.exact && data.rows != data.declared.count) {
    text += fmt::format("  rows: {{exact: {}}}, but there are {}: every release ends with an error\n",
                        data.declared.count, data.rows);
  } else if (!data.declared.exact && data.beyond_rows_max > 0) {
    text += fmt::format(
        "  rows: {{max: {}}} is below the {} rows kept: answers are clamped to what {} rows can give, and "
        "large "
        "counts cut. Raise it to a number you are sure of\n",
        data.declared.count, data.kept, data.declared.count);
  }
  return text.empty() ? "" : "\n" + text;
}

std::string report_text(const DatasetReport& report, const engine::Dataset& dataset, const Style& style) {
  const engine::DataReport& data = report.data;
  std::string text = fmt::format("{}: {}\n", printable(report.dataset), printable(report.source));
  const auto line = [&](std::uint64_t count, std::string_view what) {
    text += fmt::format("  {:>12}  {}\n", grouped(static_cast<std::int64_t>(count)), what);
  };
  line(data.rows, "rows read");
  line(data.units, "units");
  line(data.malformed, dataset.csv
                           ? fmt::format("malformed rows (ragged, badly quoted or not {}): their cells "
                                         "are missing",
                                         engine::name(dataset.csv->encoding))
                           : "malformed rows: their cells are missing");
  if (data.outside_blocks) line(*data.outside_blocks, "rows in no block: dropped");
  line(data.without_unit, "rows without unit id: dropped");
  line(data.over_max_rows, "rows beyond max_rows of their unit: dropped");
  line(data.kept, "rows kept");
  line(data.beyond_rows_max, dataset.rows.exact ? "rows more than rows.exact: releases fail"
                                                : "rows beyond rows.max: only the clamp meets them");
  if (data.columns.empty()) return text + advice_text(report, dataset);
  Table table({{"column"},
               {"null", Table::Align::right},
               {"unreadable", Table::Align::right},
               {"out of bounds", Table::Align::right},
               {"undeclared", Table::Align::right}});
  for (const auto& column : data.columns) {
    const auto shown = [](std::uint64_t count) { return grouped(static_cast<std::int64_t>(count)); };
    table.add({column.column, shown(column.nulls), shown(column.unreadable), shown(column.out_of_bounds),
               shown(column.undeclared)});
  }
  return text + "\n" + table.text(style) + kColumnsExplained + advice_text(report, dataset);
}

ExitCode data_check(const DataArguments& arguments, Console& console) {
  const Declared source = declared(arguments);
  std::vector<DatasetReport> reports;
  std::vector<std::string> without_source;
  for (const engine::Dataset& dataset : source.policy.datasets()) {
    if (arguments.dataset && dataset.name != source.policy.dataset(*arguments.dataset).name) continue;
    if (!dataset.has_source()) {
      without_source.push_back(dataset.name);
      continue;
    }
    const engine::Progress progress = console.progress("checking " + printable(dataset.name));
    const engine::Dataset found = where_found(source, dataset);
    reports.push_back({dataset.name, source_of(found), engine::check_data(found, source.base_dir, progress)});
    console.end_progress();
  }
  if (arguments.dataset && reports.empty()) {
    throw SourceError("dataset '" + *arguments.dataset + "' has no source: its values come from outside");
  }
  if (console.json()) {
    console.write(data_check_json(reports, without_source));
  } else if (!console.quiet()) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
      console.write((i == 0 ? "" : "\n") +
                    report_text(reports[i], source.policy.dataset(reports[i].dataset), console.style()));
    }
    for (const std::string& name : without_source) {
      console.write(printable(name) + ": no source, its values come from outside\n");
    }
  }
  return ExitCode::done;
}

VerbSpec data_check_verb() {
  return Verb<DataArguments>{
      .words = "data check",
      .summary = "report missing, dropped and clamped rows, for the curator only",
      .examples =
          "epsilog data check --policy clinic.yaml\n"
          "epsilog data check clinic --ledger clinic.epsilog",
      .details = "Prints exact counts of the data: they are not private, and are recorded nowhere.",
      .positionals = {any_dataset<DataArguments>()},
      .options = {{"--policy", &DataArguments::policy}, {"--ledger", &DataArguments::ledger}},
      .run = &data_check};
}

}  // namespace

std::vector<VerbSpec> data_verbs() {
  return {data_check_verb()};
}

}  // namespace epsilog::command
