// data check.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "checked_arguments.hpp"
#include "epsilog/accounting/errors.hpp"
#include "json_output.hpp"
#include "printable.hpp"
#include "table_output.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {
namespace {

/// A policy and the folder its relative source paths start from.
struct Declared {
  std::optional<engine::Engine>
      engine;  ///< of the ledger it is from, which is no source as long as it is open
  engine::Policy policy;
  std::string base_dir;
};

Declared declared(const Arguments& arguments) {
  if (arguments.policy) {
    const std::string path = policy_path(arguments);
    return {std::nullopt, engine::Policy::read(path), std::filesystem::absolute(path).parent_path().string()};
  }
  auto engine = engine::Engine::open(ledger_path(arguments));
  engine::Policy policy = engine.active_policy();
  const std::string base_dir = engine.active_policy_version().base_dir;
  return {std::move(engine), std::move(policy), base_dir};
}

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

std::string report_text(const DatasetReport& report, const Style& style) {
  const engine::DataReport& data = report.data;
  std::string text = fmt::format("{}: {}\n", printable(report.dataset), printable(report.source));
  const auto line = [&](std::uint64_t count, std::string_view what) {
    text += fmt::format("  {:>12}  {}\n", count, what);
  };
  line(data.rows, "rows read");
  line(data.units, "units");
  line(data.malformed, "malformed rows (ragged, badly quoted or not UTF-8): their cells are missing");
  if (data.outside_blocks) line(*data.outside_blocks, "rows in no block: dropped");
  line(data.without_unit, "rows without unit id: dropped");
  line(data.over_max_rows, "rows beyond max_rows of their unit: dropped");
  line(data.beyond_rows_max, "rows beyond rows.max: only the clamp meets them");
  if (data.columns.empty()) return text;
  Table table({{"column"},
               {"missing", Table::Align::right},
               {"out of bounds", Table::Align::right},
               {"undeclared", Table::Align::right}});
  for (const auto& column : data.columns) {
    table.add({column.column, std::to_string(column.missing), std::to_string(column.out_of_bounds),
               std::to_string(column.undeclared)});
  }
  return text + "\n" + table.text(style);
}

}  // namespace

ExitCode data_check(const Arguments& arguments, Console& console) {
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
      console.write((i == 0 ? "" : "\n") + report_text(reports[i], console.style()));
    }
    for (const std::string& name : without_source) {
      console.write(printable(name) + ": no source, its values come from outside\n");
    }
  }
  return ExitCode::done;
}

}  // namespace epsilog::command
