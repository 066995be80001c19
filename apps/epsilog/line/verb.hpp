// A verb beside its code: its words and options, and where each is put in the struct that its function takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

  /// `says` stands in place of the option's own help, where the verb says it more exactly.
  Option(std::string_view option, Text target, bool is_required = false, std::string_view says = {})
      : name(option), text(target), required(is_required), help(says) {}
  Option(std::string_view option, Texts target, bool is_required = false, std::string_view says = {})
      : name(option), texts(target), required(is_required), help(says) {}
  Option(std::string_view option, Flag target) : name(option), flag(target) {}

  std::string_view name;
  Text text = nullptr;  // one of the three says where it is kept
  Texts texts = nullptr;
  Flag flag = nullptr;
  bool required = false;
  std::string_view help;

  void store(const std::string& given, Arguments& arguments) const {
    if (text != nullptr) arguments.*text = given;
    if (texts != nullptr) (arguments.*texts).push_back(given);
    if (flag != nullptr) arguments.*flag = true;
  }
};

/// How a struct keeps an option.
enum class OptionStorage { text, texts, flag };

/// Requires  an option of that name, which is kept as it is taken: repeatable as texts, without a value as
/// flag.
[[nodiscard]] OptionUse option_use(std::string_view name, OptionStorage storage, bool required,
                                   std::string_view help);

template <class Arguments>
[[nodiscard]] OptionUses option_uses(const std::vector<Option<Arguments>>& options) {
  OptionUses uses;
  for (const Option<Arguments>& one : options) {
    const OptionStorage storage = one.flag != nullptr    ? OptionStorage::flag
                                  : one.texts != nullptr ? OptionStorage::texts
                                                         : OptionStorage::text;
    uses.push_back(option_use(one.name, storage, one.required, one.help));
  }
  return uses;
}

/// Puts the options where the struct keeps them. Those that are not among `options` stay out of it.
template <class Arguments>
void read_options(const CommandLine& line, const std::vector<Option<Arguments>>& options,
                  Arguments& arguments) {
  for (const auto& [given, text] : line.options) {
    for (const Option<Arguments>& option : options) {
      if (option.name == given->name) option.store(text, arguments);
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

/// The options with more behind them.
template <class Arguments>
[[nodiscard]] std::vector<Option<Arguments>> joined(std::vector<Option<Arguments>> options,
                                                    const std::vector<Option<Arguments>>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
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
    VerbSpec spec{words, summary, examples, details, {}, option_uses(options), {}, {}};
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
