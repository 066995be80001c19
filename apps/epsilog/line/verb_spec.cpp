#include "verb_spec.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::command {

bool VerbSpec::takes(std::string_view option) const {
  const auto of_every_verb = options_of_every_verb();
  if (std::find(of_every_verb.begin(), of_every_verb.end(), option) != of_every_verb.end()) return true;
  return std::any_of(options.begin(), options.end(),
                     [&](const OptionUse& use) { return use.name() == option; });
}

std::size_t CommandLine::count(std::string_view option) const {
  const auto is_it = [&](const Given& given) { return given.option->name == option; };
  return static_cast<std::size_t>(std::count_if(options.begin(), options.end(), is_it));
}

const std::string& CommandLine::text(std::string_view option) const {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Given& given) { return given.option->name == option; });
  EPSILOG_INVARIANT(found != options.end());
  return found->text;
}

void CommandLine::set(const OptionSpec& option, std::string text) {
  remove(option);
  options.push_back({&option, std::move(text)});
}

void CommandLine::remove(const OptionSpec& option) {
  std::erase_if(options, [&](const Given& given) { return given.option == &option; });
}

}  // namespace epsilog::command
