#include "form_choice.hpp"

#include "usage_error.hpp"

#include <algorithm>

namespace epsilog::command {
namespace {

bool among(std::string_view name, const OptionNames& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

OptionNames missing(const OptionUses& form, const OptionNames& given) {
  OptionNames names;
  for (const OptionUse& use : form) {
    if (use.required && !among(use.name(), given)) names.push_back(use.name());
  }
  return names;
}

OptionNames superfluous(const OptionUses& form, const OptionNames& given) {
  OptionNames names;
  for (const std::string_view name : given) {
    const bool taken =
        std::any_of(form.begin(), form.end(), [&](const OptionUse& use) { return use.name() == name; });
    if (!taken) names.push_back(name);
  }
  return names;
}

std::string joined(const OptionNames& names, const std::string& separator) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : separator) + std::string(name);
  return text;
}

/// "--alpha", "--alpha or --accuracy", "--scale and --alpha, or --accuracy and --alpha": the shortest
/// lists, each once.
std::string alternatives(std::vector<OptionNames> lists) {
  std::size_t fewest = lists.front().size();
  for (const OptionNames& list : lists) fewest = std::min(fewest, list.size());
  std::vector<std::string> texts;
  for (const OptionNames& list : lists) {
    if (list.size() != fewest) continue;
    const std::string text = joined(list, " and ");
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  std::string result;
  for (const std::string& text : texts)
    result += (result.empty() ? "" : fewest > 1 ? ", or " : " or ") + text;
  return result + (fewest > 1 ? " are" : " is");
}

[[noreturn]] void refuse(const VerbSpec& verb, const std::string& why) {
  const std::string words(verb.words);
  throw UsageError(words + ": " + why + "; epsilog " + words + " --help shows what goes together");
}

}  // namespace

OptionNames given_options(const CommandLine& line) {
  OptionNames names;
  for (const OptionUse& use : line.verb->options) {
    if (use.name() != "--batch" && line.has(use.name())) names.push_back(use.name());
  }
  return names;
}

std::size_t chosen_form(const VerbSpec& verb, const OptionNames& given) {
  std::vector<OptionNames> lacking;
  std::vector<OptionNames> too_many;
  for (std::size_t i = 0; i < verb.forms.size(); ++i) {
    const OptionNames more = superfluous(verb.forms[i], given);
    const OptionNames less = missing(verb.forms[i], given);
    if (more.empty() && less.empty()) return i;
    if (more.empty()) lacking.push_back(less);
    if (less.empty()) too_many.push_back(more);
  }
  if (!lacking.empty()) refuse(verb, alternatives(lacking) + " required");
  if (!too_many.empty()) refuse(verb, alternatives(too_many) + " superfluous");
  refuse(verb, "these do not go together: " + joined(given, ", "));
}

std::vector<std::size_t> possible_forms(const VerbSpec& verb, const OptionNames& command_line,
                                        const OptionNames& columns) {
  OptionNames named = command_line;
  named.insert(named.end(), columns.begin(), columns.end());
  std::vector<std::size_t> forms;
  for (std::size_t i = 0; i < verb.forms.size(); ++i) {
    const OptionUses& form = verb.forms[i];
    if (missing(form, named).empty() && superfluous(form, command_line).empty()) forms.push_back(i);
  }
  // A form that takes all that is named and lacks nothing would have been found above.
  if (forms.empty()) static_cast<void>(chosen_form(verb, named));
  return forms;
}

void set_option(CommandLine& line, const OptionSpec& option, const std::string& text) {
  if (option.takes_value()) return line.set(option, text);
  std::string word = text;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const bool yes = word == "true" || word == "1";
  if (!yes && word != "false" && word != "0") {
    throw UsageError(std::string(option.name) + ": '" + text.substr(0, 60) + "' must be true or false");
  }
  yes ? line.set(option, "") : line.remove(option);
}

}  // namespace epsilog::command
