#include "command_line.hpp"

#include <algorithm>

#include "epsilog/engine/nearest.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/utf8.hpp"
#include "help.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

using Verbs = std::vector<VerbSpec>;

/// The command line with options and plain words told apart.
struct Tokens {
  std::vector<std::string> words;
  std::vector<CommandLine::Given> options;
  bool help = false;
  bool version = false;
};

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = engine::nearest(word, candidates);
  return near.empty() ? "" : ": did you mean " + near + "?";
}

/// Compared without their dashes, which would make any two of them alike.
[[noreturn]] void unknown_option(const std::string& name) {
  const std::string word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::vector<std::string> names{"help", "version"};
  for (const OptionSpec& option : all_options()) names.emplace_back(option.name.substr(2));
  const std::string usual(usual_name(word));
  const std::string near = usual.empty() ? engine::nearest(word, names) : usual;
  throw UsageError("unknown option " + name + (near.empty() ? "" : ": did you mean --" + near + "?"));
}

Tokens tokenize(const std::vector<std::string>& arguments) {
  Tokens tokens;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      tokens.words.insert(tokens.words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                          arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      tokens.words.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (name == "--help" || name == "-h" || name == "--version") {
      (name == "--version" ? tokens.version : tokens.help) = true;
      continue;
    }
    const OptionSpec* option = find_option(name);
    if (option == nullptr) unknown_option(name);
    if (!option->takes_value()) {
      if (equals != std::string::npos) throw UsageError(name + " takes no value");
      tokens.options.push_back({option, ""});
    } else if (equals != std::string::npos) {
      tokens.options.push_back({option, argument.substr(equals + 1)});
    } else {
      if (++i == arguments.size())
        throw UsageError(name + " needs a value: " + name + " " + std::string(option->metavar));
      tokens.options.push_back({option, arguments[i]});
    }
  }
  return tokens;
}

std::string first_word(std::string_view words) {
  return std::string(words.substr(0, words.find(' ')));
}

bool is_group(const Verbs& verbs, const std::string& word) {
  return std::any_of(verbs.begin(), verbs.end(), [&](const VerbSpec& verb) {
    return verb.words.size() > word.size() && first_word(verb.words) == word;
  });
}

[[noreturn]] void unknown_verb(const Verbs& verbs, const std::vector<std::string>& words) {
  if (words.empty()) throw UsageError("no verb; epsilog --help lists them");
  std::vector<std::string> candidates;
  const bool group = is_group(verbs, words[0]);
  for (const VerbSpec& verb : verbs) {
    if (!group) candidates.push_back(first_word(verb.words));
    if (!group || first_word(verb.words) == words[0]) candidates.emplace_back(verb.words);
  }
  if (group && words.size() == 1) {
    std::string list;
    for (const std::string& candidate : candidates) list += (list.empty() ? "" : ", ") + candidate;
    throw UsageError("'" + words[0] + "' needs a second word: " + list);
  }
  const std::string spelt = words.size() > 1 && group ? words[0] + " " + words[1] : words[0];
  std::string suggestion = did_you_mean(spelt, candidates);
  if (suggestion.empty() && words.size() > 1)
    suggestion = did_you_mean(words[0] + " " + words[1], candidates);
  if (suggestion.empty()) suggestion = "; epsilog --help lists the verbs";
  throw UsageError("unknown verb '" + spelt + "'" + suggestion);
}

std::string help_for(VerbTable& table, const std::vector<std::string>& words, unsigned width) {
  std::size_t used = 0;
  if (words.empty()) return root_help(table.all(), width);
  if (const VerbSpec* verb = table.find(words, used)) return verb_help(*verb, width);
  const Verbs& verbs = table.all();
  if (words.size() == 1 && is_group(verbs, words[0])) return group_help(verbs, words[0], width);
  unknown_verb(verbs, words);
}

bool is_given(const Tokens& tokens, std::string_view option) {
  return std::any_of(tokens.options.begin(), tokens.options.end(),
                     [&](const auto& given) { return given.option->name == option; });
}

std::string name_of(const PositionalSpec& positional) {
  return std::string(positional.name.substr(0, positional.name.find('[')));
}

/// All that is missing at once, with an example that has it.
void refuse_missing(const Tokens& tokens, const VerbSpec& verb, std::size_t verb_words) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < verb.positionals.size(); ++i) {
    const bool given = tokens.words.size() > verb_words + i;
    if (verb.positionals[i].required && !given) missing.push_back(name_of(verb.positionals[i]));
  }
  for (const OptionUse& use : verb.options) {
    if (use.required && !is_given(tokens, use.name())) missing.emplace_back(use.name());
  }
  if (missing.empty()) return;
  std::string list = missing.front();
  for (std::size_t i = 1; i < missing.size(); ++i) {
    list += (i + 1 == missing.size() ? " and " : ", ") + missing[i];
  }
  const std::string_view first = verb.examples.substr(0, verb.examples.find('\n'));
  const std::string example(first.substr(0, first.find("  ")));  // what follows explains it
  const std::string words(verb.words);
  throw UsageError(words + ": " + list + (missing.size() == 1 ? " is" : " are") + " required, as in `" +
                   example + "`; epsilog " + words + " --help explains");
}

void refuse_repeats(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.options.size(); ++i) {
    const OptionSpec* option = tokens.options[i].option;
    if (!option->takes_value() || option->repeatable) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (tokens.options[j].option == option) throw UsageError(std::string(option->name) + " is given twice");
    }
  }
}

void refuse_extra_words(const Tokens& tokens, const VerbSpec& verb, std::size_t verb_words) {
  const std::size_t most = verb_words + verb.positionals.size();
  if (tokens.words.size() <= most) return;
  throw UsageError("unexpected argument '" + tokens.words[most] + "'; epsilog " + std::string(verb.words) +
                   " --help shows examples");
}

void refuse_foreign_options(const Tokens& tokens, const VerbSpec& verb) {
  for (const auto& [option, value] : tokens.options) {
    if (!verb.takes(option->name)) {
      throw UsageError("epsilog " + std::string(verb.words) + " takes no " + std::string(option->name));
    }
  }
}

/// What is typed is recorded, compared and printed as text. A supplied value alone is none of that: what is
/// no number there stands for an undefined one.
void require_text(const Tokens& tokens) {
  for (const auto& [option, value] : tokens.options) {
    if (option->name != "--value" && !engine::is_utf8(value)) {
      throw UsageError(std::string(option->name) + ": is not UTF-8");
    }
  }
  for (const std::string& word : tokens.words) {
    if (!engine::is_utf8(word)) throw UsageError("an argument is not UTF-8: '" + word.substr(0, 60) + "'");
  }
}

}  // namespace

void VerbTable::make_next() {
  for (VerbSpec& verb : groups_[next_group_]()) verbs_.push_back(std::move(verb));
  ++next_group_;
}

const std::vector<VerbSpec>& VerbTable::all() {
  while (next_group_ < groups_.size()) make_next();
  return verbs_;
}

const VerbSpec* VerbTable::find(const std::vector<std::string>& words, std::size_t& used) {
  for (std::size_t i = 0;; ++i) {
    while (i == verbs_.size()) {
      if (next_group_ == groups_.size()) return nullptr;
      make_next();
    }
    const VerbSpec& verb = verbs_[i];
    used = verb.words.find(' ') == std::string_view::npos ? 1 : 2;
    if (words.size() < used) continue;
    if ((used == 1 ? words[0] : words[0] + " " + words[1]) == verb.words) return &verb;
  }
}

std::variant<CommandLine, TextRequest, VersionRequest> parse_command_line(
    VerbTable& verbs, const std::vector<std::string>& words, unsigned width) {
  Tokens tokens = tokenize(words);
  require_text(tokens);
  if (tokens.version) return VersionRequest{};
  if (!tokens.words.empty() && tokens.words[0] == "help") {
    tokens.words.erase(tokens.words.begin());
    tokens.help = true;
  }
  if (tokens.help) return TextRequest{help_for(verbs, tokens.words, width)};

  std::size_t verb_words = 0;
  const VerbSpec* verb = verbs.find(tokens.words, verb_words);
  if (verb == nullptr) unknown_verb(verbs.all(), tokens.words);
  refuse_foreign_options(tokens, *verb);
  refuse_repeats(tokens);
  refuse_extra_words(tokens, *verb, verb_words);
  // A table of requests holds in its columns what is required otherwise.
  if (!is_given(tokens, "--batch")) refuse_missing(tokens, *verb, verb_words);

  tokens.words.erase(tokens.words.begin(), tokens.words.begin() + static_cast<std::ptrdiff_t>(verb_words));
  CommandLine line{verb, std::move(tokens.words), std::move(tokens.options)};
  if (line.has("--quiet") && line.has("--verbose")) {
    throw UsageError("--verbose: not with --quiet; give either");
  }
  return line;
}

}  // namespace epsilog::command
