// A verb as the parser and the help see it, and a command line that asks one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console.hpp"
#include "exit_codes.hpp"
#include "options.hpp"

namespace epsilog::command {

struct PositionalSpec {
  std::string_view name;
  bool required = true;
  std::string_view help;
};

/// An option where a verb takes it.
struct OptionUse {
  const OptionSpec* option = nullptr;
  bool required = false;
  std::string_view help;

  [[nodiscard]] std::string_view name() const { return option->name; }
};
using OptionUses = std::vector<OptionUse>;

struct CommandLine;

struct VerbSpec {
  std::string_view words;  ///< "policy check"
  std::string_view summary;
  std::string_view examples;  ///< lines
  std::string_view details;   ///< lines; "" for none
  std::vector<PositionalSpec> positionals;
  OptionUses options;  ///< those every verb takes are left out
  /// Of a calculator the ways to ask it, between which the options that are given decide, else empty.
  /// `options` is then their union and --batch.
  std::vector<OptionUses> forms = {};
  std::function<ExitCode(const CommandLine& line, Console& console)> run;

  /// Those of every verb included.
  [[nodiscard]] bool takes(std::string_view option) const;
};

/// What was typed, as plain texts: nothing is interpreted here.
struct CommandLine {
  struct Given {
    const OptionSpec* option = nullptr;
    std::string text;  ///< "" of a flag
  };
  const VerbSpec* verb = nullptr;
  std::vector<std::string> words;  ///< after those of the verb
  std::vector<Given> options;      ///< in the order they were typed

  [[nodiscard]] bool has(std::string_view option) const { return count(option) > 0; }
  [[nodiscard]] std::size_t count(std::string_view option) const;
  /// The text of an option that was given.
  [[nodiscard]] const std::string& text(std::string_view option) const;
  /// Puts one text, or the flag, in place of what was there.
  void set(const OptionSpec& option, std::string text);
  void remove(const OptionSpec& option);
};

}  // namespace epsilog::command
