// policy import, policy init: drafts of policies.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "checked_arguments.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "figures_json.hpp"
#include "printable.hpp"
#include "usage_error.hpp"
#include "verb.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct DraftArguments {
  std::optional<std::string> metadata_file;
  std::optional<std::string> from;
  std::optional<std::string> from_csv;
  std::optional<std::string> dataset_name;
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
  std::optional<std::string> output;
  bool header = false;
};

using engine::PolicyDraft;

std::optional<engine::MetadataFormat> format_argument(const DraftArguments& arguments) {
  if (!arguments.from) return std::nullopt;
  if (*arguments.from == "smartnoise") return engine::MetadataFormat::smartnoise;
  if (*arguments.from == "lomas") return engine::MetadataFormat::lomas;
  throw UsageError("--from: '" + printable(*arguments.from) + "' is not smartnoise or lomas");
}

std::string dataset_argument(const DraftArguments& arguments) {
  if (!arguments.dataset_name) return "";
  const std::string& name = *arguments.dataset_name;
  if (engine::dataset_name_from(name, "") != name) {
    throw UsageError("--dataset: '" + printable(name) +
                     "': use letters, digits and _, not starting with a digit, at most 64 characters");
  }
  return name;
}

/// Never overwrites: the file must be new.
void write_new_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wxe");
  if (file == nullptr) {
    throw UsageError("--output: '" + printable(path) + "'" +
                     (errno == EEXIST ? ": exists already, and nothing is overwritten"
                                      : std::string(": ") + std::strerror(errno)));
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return;
  const std::string why = std::strerror(errno);
  std::remove(path.c_str());
  throw OutputError("cannot write " + printable(path) + ": " + why);
}

std::vector<Figures> remark_figures(const std::vector<PolicyDraft::Remark>& remarks) {
  std::vector<Figures> list;
  for (const PolicyDraft::Remark& remark : remarks) {
    list.push_back({{"line", static_cast<std::uint64_t>(remark.line)}, {"message", remark.message}});
  }
  return list;
}

std::string draft_json(const PolicyDraft& draft, const std::optional<std::string>& output) {
  return figures_json({{"output", output ? decltype(Figure::value)(*output) : std::monostate{}},
                       {"valid", draft.valid},
                       {"todos", remark_figures(draft.todos)},
                       {"notes", remark_figures(draft.notes)},
                       {"policy", draft.yaml}});
}

std::string draft_summary(const PolicyDraft& draft) {
  const std::size_t count = draft.todos.size();
  const std::string left =
      count == 0 ? "nothing is left to decide"
                 : fmt::format("{} thing{} left to decide", count, count == 1 ? " is" : "s are");
  return left + (draft.valid ? "; policy check accepts the policy as it stands"
                             : "; policy check refuses the policy until what it needs is decided");
}

void list_remarks(const PolicyDraft& draft, const std::string& file, Console& console) {
  for (const PolicyDraft::Remark& todo : draft.todos) {
    console.message_line(fmt::format("{}:{}: TODO: {}", printable(file), todo.line, printable(todo.message)));
  }
  for (const PolicyDraft::Remark& note : draft.notes) {
    console.message_line(fmt::format("{}:{}: NOTE: {}", printable(file), note.line, printable(note.message)));
  }
  console.message(draft_summary(draft));
}

ExitCode write_draft(const PolicyDraft& draft, const DraftArguments& arguments, Console& console) {
  if (arguments.output) {
    write_new_file(*arguments.output, draft.yaml);
    console.set_recorded_note(*arguments.output + " was written");
  }
  if (console.json()) {
    console.write(draft_json(draft, arguments.output));
    return ExitCode::done;
  }
  if (!arguments.output) console.write(draft.yaml);
  console.flush();
  if (!console.quiet()) list_remarks(draft, arguments.output.value_or("policy"), console);
  return ExitCode::done;
}

/// How a policy in `output` names a file, since sources are relative to the policy.
std::string source_beside(const std::string& csv, const std::optional<std::string>& output) {
  namespace fs = std::filesystem;
  const fs::path path(csv);
  if (path.is_absolute() || !output) return csv;
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) throw UsageError("--from-csv: '" + csv + "' begins at a directory that cannot be read any more");
  const fs::path folder = (here / *output).lexically_normal().parent_path();
  return (here / path).lexically_normal().lexically_relative(folder).string();
}

ExitCode policy_import(const DraftArguments& arguments, Console& console) {
  engine::ImportOptions options;
  options.from = format_argument(arguments);
  options.dataset = dataset_argument(arguments);
  if (arguments.delta && !arguments.epsilon) throw UsageError("--delta: only beside --epsilon");
  if (arguments.epsilon) {
    options.epsilon = accounting::Epsilon::from_rational_down(epsilon_argument(*arguments.epsilon));
  }
  if (arguments.delta)
    options.delta = accounting::Delta::from_rational_down(delta_argument(*arguments.delta));
  return write_draft(engine::import_metadata_file(*arguments.metadata_file, options), arguments, console);
}

ExitCode policy_draft(const DraftArguments& arguments, Console& console) {
  const std::string& csv = *arguments.from_csv;
  std::string dataset = dataset_argument(arguments);
  if (dataset.empty()) {
    dataset = engine::dataset_name_from(std::filesystem::path(csv).stem().string(), "dataset");
  }
  if (!is_printable(csv)) throw UsageError("--from-csv: must be UTF-8 without control characters");
  const engine::FirstLine first_line =
      arguments.header ? engine::FirstLine::names : engine::FirstLine::guessed;
  return write_draft(engine::draft_from_csv(csv, source_beside(csv, arguments.output), dataset, first_line),
                     arguments, console);
}

VerbSpec policy_import_verb() {
  return Verb<DraftArguments>{
      .words = "policy import",
      .summary = "begin a policy from the metadata of SmartNoise SQL or lomas",
      .examples =
          "epsilog policy import PUMS.yaml > pums.yaml\n"
          "epsilog policy import penguin_metadata.yaml --from lomas --epsilon 3 --output penguins.yaml",
      .details =
          "Tables become datasets, and columns columns. What the metadata do not say is left as `#\n"
          "TODO:` where the key would stand, what means something else here is a `# NOTE:`; both are\n"
          "listed on standard error. `epsilog policy check` refuses the policy until what it needs is\n"
          "decided. Numbers are copied exactly. Exit code 3, with FILE:LINE:COLUMN, for a key or value\n"
          "that is not understood.",
      .positionals = {{"FILE", &DraftArguments::metadata_file, true, "the metadata, a YAML file"}},
      .options = {{"--from", &DraftArguments::from},
                  {"--dataset", &DraftArguments::dataset_name},
                  {"--epsilon", &DraftArguments::epsilon, false,
                   "the budget of each dataset (default: left as TODO)"},
                  {"--delta", &DraftArguments::delta, false, "the delta of that budget"},
                  {"--output", &DraftArguments::output}},
      .run = &policy_import};
}

VerbSpec policy_init_verb() {
  return Verb<DraftArguments>{
      .words = "policy init",
      .summary = "begin a policy from the header of a CSV file",
      .examples =
          "epsilog policy init --from-csv visits.csv > clinic.yaml\n"
          "epsilog policy init --from-csv data/visits.csv --dataset clinic --output clinic.yaml",
      .details =
          "How the file is written, and the types of its columns, are guessed from the first 1000 rows\n"
          "at most and must be confirmed. Bounds and values are never taken from the data, since that\n"
          "would publish them: they are left as `# TODO:`, like the unit, the rows and the budget, and\n"
          "`epsilog policy check` refuses the policy until these three are decided.\n"
          "Names of columns are published with the policy. Exit code 3, and no draft, where the first\n"
          "line looks like a record: add --header if it names the columns all the same.",
      .options = {{"--from-csv", &DraftArguments::from_csv, true},
                  {"--header", &DraftArguments::header},
                  {"--dataset", &DraftArguments::dataset_name},
                  {"--output", &DraftArguments::output}},
      .run = &policy_draft};
}

}  // namespace

std::vector<VerbSpec> policy_draft_verbs() {
  return {policy_import_verb(), policy_init_verb()};
}

}  // namespace epsilog::command
