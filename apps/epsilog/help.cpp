#include "help.hpp"

#include <algorithm>

namespace epsilog::command {
namespace {

std::string indented(std::string_view lines) {
  std::string result;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    result += "  " + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return result;
}

struct Row {
  std::string left;
  std::string_view right;
};

std::string columns(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.left.size());
  std::string result;
  for (const Row& row : rows) {
    result += "  " + row.left + std::string(width - row.left.size() + 2, ' ') + std::string(row.right) + "\n";
  }
  return result;
}

Row option_row(const OptionUse& use) {
  const OptionSpec& option = *find_option(use.name);
  return {std::string(use.name) + (option.takes_value() ? " " + std::string(option.metavar) : ""),
          use.help.empty() ? option.help : use.help};
}

std::string usage_lines(const VerbSpec& verb, const std::vector<OptionUse>& options) {
  constexpr std::size_t kWidth = 96;
  std::string lines = "epsilog " + std::string(verb.words);
  const std::string margin(lines.size(), ' ');
  std::size_t used = lines.size();
  const auto add = [&](const std::string& text, bool required) {
    const std::string word = required ? " " + text : " [" + text + "]";
    if (used + word.size() > kWidth) {
      lines += "\n" + margin;
      used = margin.size();
    }
    lines += word;
    used += word.size();
  };
  for (const PositionalSpec& positional : verb.positionals)
    add(std::string(positional.name), positional.required);
  for (const OptionUse& use : options) add(option_row(use).left, use.required);
  return lines;
}

std::string usage_of(const VerbSpec& verb) {
  if (verb.forms.empty()) return usage_lines(verb, verb.options);
  std::string lines;
  for (const Form& form : verb.forms) lines += usage_lines(verb, form.options) + "\n";
  return lines + "epsilog " + std::string(verb.words) + " --batch FILE|- [options that hold for all rows]";
}

std::vector<Row> verb_rows(std::string_view group) {
  std::vector<Row> rows;
  for (const VerbSpec& verb : all_verbs()) {
    if (group.empty() || verb.words.substr(0, verb.words.find(' ')) == group) {
      rows.push_back({std::string(verb.words), verb.summary});
    }
  }
  return rows;
}

constexpr std::string_view kRootExamples =
    "epsilog init --policy clinic.yaml --ledger clinic.epsilog\n"
    "export EPSILOG_LEDGER=clinic.epsilog\n"
    "epsilog plan clinic mean:cost --epsilon 0.2           # cost and accuracy, before spending\n"
    "epsilog release clinic mean:cost --epsilon 0.2        # charge, then the noisy answer\n"
    "epsilog release clinic histogram:ward --epsilon 0.1 --where \"age > 65\"\n"
    "epsilog budget\n"
    "epsilog audit verify";

constexpr std::string_view kBatch =
    "A calculator opens no ledger and knows no data. With --batch it reads a CSV table whose first line\n"
    "names options without their dashes. An empty cell is an option not given; then the one of the command\n"
    "line holds, which is thus a default for all rows. Printed are the columns of the table, the results "
    "and\n"
    "an error, row by row; with --json one object a line. Exit code 3, after all rows, when any was bad.";

constexpr std::string_view kExitCodes =
    "0  done\n"
    "1  internal error, or the answer could not be written\n"
    "2  flags, missing or unparsable arguments\n"
    "3  unknown name, underivable statistic, invalid policy, source or ledger; a bad row of --batch\n"
    "4  refused\n"
    "5  waits for approvals, or approved for its commit\n"
    "6  the ledger failed verification\n"
    "7  locked, full, read-only or poisoned, or the source cannot be read: try again";

}  // namespace

std::string root_help() {
  std::string help = "epsilog: a privacy budget that is kept, durably and exactly.\n\nExamples\n";
  help += indented(kRootExamples);
  help += "\nVerbs\n" + columns(verb_rows(""));
  help += "\nOptions of every verb, before or after it\n";
  help += columns({option_row({"--json"}),
                   option_row({"--quiet"}),
                   {"--help", "help for a verb: epsilog release --help"},
                   {"--version", "the version of epsilog"}});
  help += "\nEnvironment\n";
  help += columns({{"EPSILOG_LEDGER", "the ledger when --ledger is not given"},
                   {"NO_COLOR", "no colours when it is set and not empty"}});
  help += "\nExit codes\n" + indented(kExitCodes);
  return help;
}

std::string group_help(std::string_view group) {
  std::string help = "Examples\n";
  for (const VerbSpec& verb : all_verbs()) {
    if (verb.words.substr(0, verb.words.find(' ')) == group) help += indented(verb.examples);
  }
  return help + "\nVerbs\n" + columns(verb_rows(group));
}

std::string verb_help(const VerbSpec& verb) {
  std::string help = "Examples\n" + indented(verb.examples);
  help += "\nUsage\n" + indented(usage_of(verb));
  help += "\n" + std::string(verb.words) + ": " + std::string(verb.summary) + "\n";
  if (!verb.details.empty()) help += std::string(verb.details) + "\n";
  if (!verb.forms.empty()) help += "\n" + std::string(kBatch) + "\n";
  std::vector<Row> rows;
  for (const PositionalSpec& positional : verb.positionals) {
    rows.push_back({std::string(positional.name), positional.help});
  }
  if (!rows.empty()) help += "\nArguments\n" + columns(rows);
  rows.clear();
  for (const OptionUse& use : verb.options) rows.push_back(option_row(use));
  rows.push_back(option_row({"--json"}));
  rows.push_back(option_row({"--quiet"}));
  return help + "\nOptions\n" + columns(rows);
}

}  // namespace epsilog::command
