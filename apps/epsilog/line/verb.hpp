// A verb beside its code: its words and options, and where each is put in the struct that its function takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "verb_spec.hpp"

namespace epsilog::command {

template <class Arguments>
struct Positional {
  std::string_view name;
  std::optional<std::string> Arguments::*target;
  bool required = true;
  std::string_view help;
};

template <class Arguments>
struct Option {
  using Text = std::optional<std::string> Arguments::*;
  using Texts = std::vector<std::string> Arguments::*;
  using Flag = bool Arguments::*;

  std::string_view name;
  std::variant<Text, Texts, Flag> target;
  bool required = false;
  std::string_view help = {};  ///< in place of the option's own, where the verb says it more exactly

  [[nodiscard]] OptionUse use() const {
    const OptionSpec* option = find_option(name);
    EPSILOG_INVARIANT(option != nullptr);
    EPSILOG_INVARIANT(option->takes_value() != std::holds_alternative<Flag>(target));
    EPSILOG_INVARIANT(option->repeatable == std::holds_alternative<Texts>(target));
    return {option, required, help.empty() ? option->help : help};
  }
};

template <class Arguments>
[[nodiscard]] OptionUses uses_of(const std::vector<Option<Arguments>>& options) {
  OptionUses uses;
  for (const Option<Arguments>& option : options) uses.push_back(option.use());
  return uses;
}

/// Puts the options where the struct keeps them. Those that are not among `options` stay out of it.
template <class Arguments>
void read_options(const CommandLine& line, const std::vector<Option<Arguments>>& options,
                  Arguments& arguments) {
  for (const auto& [given, text] : line.options) {
    for (const Option<Arguments>& option : options) {
      if (option.name != given->name) continue;
      if (const auto* single = std::get_if<0>(&option.target)) {
        arguments.*(*single) = text;
      } else if (const auto* repeated = std::get_if<1>(&option.target)) {
        (arguments.*(*repeated)).push_back(text);
      } else {
        arguments.*std::get<2>(option.target) = true;
      }
    }
  }
}

/// Requires  no more words than positionals.
template <class Arguments>
void read_words(const CommandLine& line, const std::vector<Positional<Arguments>>& positionals,
                Arguments& arguments) {
  EPSILOG_INVARIANT(line.words.size() <= positionals.size());
  for (std::size_t i = 0; i < line.words.size(); ++i) arguments.*(positionals[i].target) = line.words[i];
}

template <class Arguments>
struct Verb {
  std::string_view words;  ///< "policy check"
  std::string_view summary;
  std::string_view examples;      ///< lines
  std::string_view details = {};  ///< lines
  std::vector<Positional<Arguments>> positionals = {};
  std::vector<Option<Arguments>> options = {};
  /// Checks its arguments, does its work, prints, and says how it ended.
  ExitCode (*run)(const Arguments& arguments, Console& console) = nullptr;

  /// As those see it who do not know the struct.
  operator VerbSpec() const {  // NOLINT(google-explicit-constructor): a list of verbs is made of these
    VerbSpec spec{words, summary, examples, details, {}, uses_of(options), {}, {}};
    for (const Positional<Arguments>& one : positionals) {
      spec.positionals.push_back({one.name, one.required, one.help});
    }
    spec.run = [positionals = positionals, options = options, run = run](const CommandLine& line,
                                                                         Console& console) {
      Arguments arguments;
      read_words(line, positionals, arguments);
      read_options(line, options, arguments);
      return run(arguments, console);
    };
    return spec;
  }
};

}  // namespace epsilog::command
