#include "help.hpp"

#include <algorithm>

#include "printable.hpp"

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

/// Commands, each cut before an option where it is too long, as a shell reads it. What explains it stands
/// above it then.
std::string examples_of(std::string_view lines, unsigned width) {
  constexpr std::size_t kIndent = 2;
  constexpr std::size_t kContinued = 6;
  constexpr std::string_view kCut = " \\";
  std::string result;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const std::size_t comment = line.find("  # ");
    if (kIndent + line.size() > width && comment != std::string_view::npos) {
      result += "  " + std::string(line.substr(comment + 2)) + "\n";
      line = line.substr(0, line.find_last_not_of(' ', comment) + 1);
    }
    std::size_t indent = kIndent;
    while (indent + line.size() > width) {
      std::size_t at = line.rfind(" --", width - indent - kCut.size());
      if (at == std::string_view::npos) at = line.find(" --");
      if (at == std::string_view::npos) break;
      result += std::string(indent, ' ') + std::string(line.substr(0, at)) + std::string(kCut) + "\n";
      line.remove_prefix(at + 1);
      indent = kContinued;
    }
    result += std::string(indent, ' ') + std::string(line) + "\n";
  }
  return result;
}

struct Row {
  std::string left;
  std::string_view right;
};

/// Long ones begin a line of their own, so that one does not push all others to the right.
std::string columns(const std::vector<Row>& rows, unsigned width) {
  constexpr std::size_t kWidest = 26;
  std::size_t widest = 0;
  for (const Row& row : rows) {
    if (row.left.size() <= kWidest) widest = std::max(widest, row.left.size());
  }
  const std::size_t margin = widest + 4;
  std::string result;
  for (const Row& row : rows) {
    result += "  " + row.left;
    const bool fits = row.left.size() <= widest;
    result += fits ? std::string(widest - row.left.size() + 2, ' ') : "\n" + std::string(margin, ' ');
    result += wrapped(row.right, width, margin, margin) + "\n";
  }
  return result;
}

/// Lines that belong together, as they stand in the table of verbs, put into `width` columns. An indented
/// line is an item, "  LEFT  RIGHT", and one indented further goes on with it.
std::string reflowed(std::string_view lines, unsigned width) {
  std::string result;
  std::string paragraph;
  std::size_t margin = 0;
  const auto end_paragraph = [&] {
    const std::size_t indent = std::min(paragraph.find_first_not_of(' '), paragraph.size());
    const std::string_view words = std::string_view(paragraph).substr(indent);
    if (!words.empty()) result += std::string(indent, ' ') + wrapped(words, width, indent, margin) + "\n";
    paragraph.clear();
    margin = 0;
  };
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const bool goes_on = !paragraph.empty() && !line.empty() && indent == margin;
    if (!goes_on) {
      end_paragraph();
      if (line.empty()) result += "\n";
      const std::size_t gap = indent > 0 ? line.find("  ", indent) : std::string_view::npos;
      margin = gap == std::string_view::npos ? indent : line.find_first_not_of(' ', gap);
      paragraph = line;
    } else {
      paragraph += " " + std::string(line.substr(indent));
    }
  }
  end_paragraph();
  return result;
}

Row option_row(const OptionUse& use) {
  const OptionSpec& option = *use.option;
  return {std::string(option.name) + (option.takes_value() ? " " + std::string(option.metavar) : ""),
          use.help};
}

std::string usage_lines(const VerbSpec& verb, const OptionUses& options, unsigned width) {
  constexpr std::size_t kIndent = 2;
  std::string lines = "epsilog " + std::string(verb.words);
  const std::string margin(lines.size(), ' ');
  std::size_t used = lines.size();
  const auto add = [&](const std::string& text, bool required) {
    const std::string word = required ? " " + text : " [" + text + "]";
    if (used + word.size() + kIndent > width) {
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

std::string usage_of(const VerbSpec& verb, unsigned width) {
  if (verb.forms.empty()) return usage_lines(verb, verb.options, width);
  std::string lines;
  for (const OptionUses& form : verb.forms) lines += usage_lines(verb, form, width) + "\n";
  return lines + "epsilog " + std::string(verb.words) + " --batch FILE|- [options for all rows]";
}

std::vector<Row> verb_rows(const std::vector<VerbSpec>& verbs, std::string_view group) {
  std::vector<Row> rows;
  for (const VerbSpec& verb : verbs) {
    if (group.empty() || verb.words.substr(0, verb.words.find(' ')) == group) {
      rows.push_back({std::string(verb.words), verb.summary});
    }
  }
  return rows;
}

constexpr std::string_view kRootExamples =
    "epsilog init --policy clinic.yaml --ledger clinic.epsilog\n"
    "export EPSILOG_LEDGER=clinic.epsilog\n"
    "epsilog plan clinic mean:cost --epsilon 0.2     # its cost and accuracy\n"
    "epsilog release clinic mean:cost --epsilon 0.2  # charged, then the answer\n"
    "epsilog release clinic histogram:ward --epsilon 0.1 --where \"age > 65\"\n"
    "epsilog budget\n"
    "epsilog audit verify";

constexpr std::string_view kBatch =
    "A calculator opens no ledger and knows no data. With --batch it reads a CSV table whose first line "
    "names "
    "options without their dashes. An empty cell is an option not given; then the one of the command line "
    "holds, "
    "which is thus a default for all rows. Printed are the columns of the table, the results and an error, "
    "row by "
    "row; with --json one object a line. Exit code 3, after all rows, when any was bad.";

const std::vector<Row> kExitCodes = {
    {"0", "done"},
    {"1", "internal error, or the answer could not be written"},
    {"2", "flags, missing or unparsable arguments"},
    {"3",
     "unknown name, incomplete or invalid policy, invalid source or ledger; a calculator's bad row of "
     "--batch"},
    {"4", "refused"},
    {"5", "waits for approvals, or approved for its commit"},
    {"6", "the ledger failed verification"},
    {"7", "locked, full, read-only or poisoned, or the source cannot be read"}};

std::vector<Row> rows_of_every_verb() {
  std::vector<Row> rows;
  for (const std::string_view name : options_of_every_verb()) {
    const OptionSpec* option = find_option(name);
    rows.push_back(option_row({option, false, option->help}));
  }
  return rows;
}

}  // namespace

std::string root_help(const std::vector<VerbSpec>& verbs, unsigned width) {
  std::string help = "epsilog: a privacy budget that is kept, durably and exactly.\n\nExamples\n";
  help += examples_of(kRootExamples, width);
  help += "\nVerbs\n" + columns(verb_rows(verbs, ""), width);
  std::vector<Row> rows = rows_of_every_verb();
  rows.push_back({"--help", "help for a verb: epsilog release --help"});
  rows.push_back({"--version", "the version of epsilog, how it was built, and its libraries"});
  help += "\nOptions of every verb, before or after it\n" + columns(rows, width);
  help += "\nEnvironment\n";
  help += columns({{"EPSILOG_LEDGER", "the ledger when --ledger is not given"},
                   {"NO_COLOR", "no colours when it is set and not empty"},
                   {"COLUMNS", "how wide text may be (default: the terminal, else 80)"}},
                  width);
  return help + "\nExit codes\n" + columns(kExitCodes, width);
}

std::string group_help(const std::vector<VerbSpec>& verbs, std::string_view group, unsigned width) {
  std::string help = "Examples\n";
  for (const VerbSpec& verb : verbs) {
    if (verb.words.substr(0, verb.words.find(' ')) == group) help += examples_of(verb.examples, width);
  }
  return help + "\nVerbs\n" + columns(verb_rows(verbs, group), width);
}

std::string verb_help(const VerbSpec& verb, unsigned width) {
  std::string help = "Examples\n" + examples_of(verb.examples, width);
  help += "\nUsage\n" + indented(usage_of(verb, width));
  help += "\n" + reflowed(std::string(verb.words) + ": " + std::string(verb.summary), width);
  help += reflowed(verb.details, width);
  if (!verb.forms.empty()) help += "\n" + reflowed(kBatch, width);
  std::vector<Row> rows;
  for (const PositionalSpec& positional : verb.positionals) {
    rows.push_back({std::string(positional.name), positional.help});
  }
  if (!rows.empty()) help += "\nArguments\n" + columns(rows, width);
  rows.clear();
  for (const OptionUse& use : verb.options) rows.push_back(option_row(use));
  for (Row& row : rows_of_every_verb()) rows.push_back(std::move(row));
  return help + "\nOptions\n" + columns(rows, width);
}

}  // namespace epsilog::command
