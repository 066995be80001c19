// The table of verbs and options: the one place from which the parser, the help and the suggestions
// for misspelt words are made.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arguments.hpp"

namespace epsilog::command {

/// Where the text of an option or positional goes.
using SingleText = std::optional<std::string> Arguments::*;
using RepeatedText = std::vector<std::string> Arguments::*;
using Flag = bool Arguments::*;

struct OptionSpec {
  std::string_view name;     ///< "--epsilon"
  std::string_view metavar;  ///< "E"; "" for a flag
  std::string_view help;
  std::variant<SingleText, RepeatedText, Flag> target;

  [[nodiscard]] bool takes_value() const { return !metavar.empty(); }
};

struct PositionalSpec {
  std::string_view name;
  bool required = true;
  std::string_view help;
  SingleText target = nullptr;
};

struct OptionUse {
  std::string_view name;
  bool required = false;
  std::string_view help = {};  ///< in place of the option's own, where the verb says it more exactly
};

struct Calculation;

/// One way to ask a calculator. Which options are given decides between the forms of a verb.
struct Form {
  std::vector<OptionUse> options;
  std::vector<std::string_view> results;  ///< fields of the calculation that --batch adds as columns
  Calculation (*calculate)(const Arguments& arguments) = nullptr;
};

struct VerbSpec {
  Verb verb;
  std::string_view words;  ///< "policy check"
  std::string_view summary;
  std::string_view examples;  ///< lines
  std::string_view details;   ///< lines; "" for none
  std::vector<PositionalSpec> positionals;
  std::vector<OptionUse> options;  ///< those every verb takes are left out
  std::vector<Form> forms = {};    ///< of a calculator, else empty; `options` is then their union and --batch
};

/// In the order the help shows them.
[[nodiscard]] const std::vector<VerbSpec>& all_verbs();
[[nodiscard]] const VerbSpec& spec_of(Verb verb);

[[nodiscard]] const std::vector<OptionSpec>& all_options();
/// nullptr when there is none of that name.
[[nodiscard]] const OptionSpec* find_option(std::string_view name);
[[nodiscard]] std::array<std::string_view, 3> options_of_every_verb();
/// Whether the verb takes the option, those of every verb included.
[[nodiscard]] bool takes(const VerbSpec& verb, std::string_view option);

}  // namespace epsilog::command
