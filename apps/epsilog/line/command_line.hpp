// argv -> CommandLine.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "verb_spec.hpp"

namespace epsilog::command {

/// Text that was asked for instead of work: --help.
struct TextRequest {
  std::string text;
};
struct VersionRequest {};

/// The verbs of some groups, in the order in which the help shows them. A group is made when it is looked
/// into: to make them all is a twentieth of a short call.
/// Thread-safety: confine.
class VerbTable final {
 public:
  using Group = std::vector<VerbSpec> (*)();
  explicit VerbTable(std::vector<Group> groups) : groups_(std::move(groups)) {}

  /// nullptr when no verb is spelt so. `used` is how many words it took.
  /// Ensures  the verb stays where it is until all() is called.
  [[nodiscard]] const VerbSpec* find(const std::vector<std::string>& words, std::size_t& used);
  [[nodiscard]] const std::vector<VerbSpec>& all();

 private:
  void make_next();

  std::vector<Group> groups_;
  std::size_t next_group_ = 0;  ///< groups
  std::vector<VerbSpec> verbs_;
};

/// Options may stand before or after the verb, as `--x V` or `--x=V`; an option's value is taken
/// whatever it looks like (`--value -3`, `--value -`); `--` ends the options.
/// Help is `width` columns wide.
/// Ensures  the verb is one of `verbs`, takes all options and words, has those it requires, and no option
///          twice that is not repeatable.
/// Throws   UsageError, with the nearest known word for an unknown one.
[[nodiscard]] std::variant<CommandLine, TextRequest, VersionRequest> parse_command_line(
    VerbTable& verbs, const std::vector<std::string>& words, unsigned width);

}  // namespace epsilog::command
