// data check.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "csv_option.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/source_check.hpp"
#include "evidence_arguments.hpp"
#include "ledger_arguments.hpp"
#include "printable.hpp"
#include "report_json.hpp"
#include "report_text.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct DataArguments : PolicyFileArguments {
  std::optional<std::string> dataset;
  bool allow_empty = false;
};

/// A policy and the folder its relative source paths start from.
struct DeclaredPolicy {
  std::optional<engine::Engine>
      engine;  ///< of the ledger it is from, which is no source as long as it is open
  engine::Policy policy;
  std::string base_dir;
};

DeclaredPolicy declared_policy(const DataArguments& arguments) {
  if (arguments.policy) {
    const std::string path = policy_path(arguments);
    return {std::nullopt, engine::checked_policy_file(path),
            std::filesystem::path(path).parent_path().string()};
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
engine::Dataset with_resolved_source(const DeclaredPolicy& declared, engine::Dataset dataset) {
  if (!declared.engine) return dataset;
  std::string& written = dataset.csv ? dataset.csv->path : dataset.sqlite->path;
  const std::string found = declared.engine->source_of(dataset.name);
  if (found != (std::filesystem::path(declared.base_dir) / written).string()) written = found;
  return dataset;
}

ExitCode data_check(const DataArguments& arguments, Console& console) {
  const DeclaredPolicy source = declared_policy(arguments);
  std::vector<wire::DatasetReport> reports;
  std::vector<std::string> without_source;
  for (const engine::Dataset& dataset : source.policy.datasets()) {
    if (arguments.dataset && dataset.name != source.policy.dataset(*arguments.dataset).name) continue;
    if (!dataset.has_source()) {
      without_source.push_back(dataset.name);
      continue;
    }
    const accounting::Callback<void(double)> progress =
        console.progress("checking " + printable(dataset.name));
    const engine::Dataset found = with_resolved_source(source, dataset);
    const auto empty = arguments.allow_empty ? engine::EmptySource::allowed : engine::EmptySource::refused;
    engine::SourceCheck check = engine::check_source(found, source.base_dir, empty, progress);
    reports.push_back({dataset.name, source_of(found), std::move(check.counts), std::move(check.problems)});
    console.end_progress();
  }
  if (arguments.dataset && reports.empty()) {
    throw SourceError("dataset '" + *arguments.dataset + "' has no source: its values come from outside");
  }
  if (console.json()) {
    console.write(wire::data_check_json(reports, without_source));
  } else if (!console.quiet()) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
      console.write((i == 0 ? "" : "\n") +
                    data_check_text(reports[i], source.policy.dataset(reports[i].dataset), console.style()));
    }
    for (const std::string& name : without_source) {
      console.write(printable(name) + ": no source, its values come from outside\n");
    }
  }
  const bool usable = std::all_of(reports.begin(), reports.end(),
                                  [](const wire::DatasetReport& report) { return report.problems.empty(); });
  if (usable) return ExitCode::done;
  if (console.quiet() || console.prints_rows()) {
    for (const wire::DatasetReport& report : reports) {
      for (const std::string& problem : report.problems) console.message(report.dataset + ": " + problem);
    }
  }
  return ExitCode::invalid;
}

VerbSpec data_check_verb() {
  return Verb<DataArguments>{
      .words = "data check",
      .summary = "report missing, dropped and clamped rows, for the curator only",
      .examples =
          "epsilog data check --policy clinic.yaml\n"
          "epsilog data check clinic --ledger clinic.epsilog",
      .details =
          "Prints exact counts of the data: they are not private, and are recorded nowhere. Exit code 3\n"
          "where a source has no row, or most of its rows are malformed; the cause is named where one is\n"
          "seen.",
      .positionals = {any_dataset<DataArguments>()},
      .options = {{"--policy", &DataArguments::policy},
                  {"--ledger", &DataArguments::ledger},
                  {"--allow-empty", &DataArguments::allow_empty}},
      .run = &data_check};
}

}  // namespace

std::vector<VerbSpec> data_verbs() {
  return with_evidence_options({with_rows(data_check_verb(), &column_rows)});
}

}  // namespace epsilog::command
