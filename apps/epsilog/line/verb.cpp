#include "verb.hpp"

namespace epsilog::command {

OptionUse option_use(std::string_view name, OptionStorage storage, bool required, std::string_view help) {
  const OptionSpec* option = find_option(name);
  EPSILOG_INVARIANT(option != nullptr);
  EPSILOG_INVARIANT(option->takes_value() == (storage != OptionStorage::flag));
  EPSILOG_INVARIANT(option->repeatable == (storage == OptionStorage::texts));
  return {option, required, help.empty() ? option->help : help};
}

}  // namespace epsilog::command
