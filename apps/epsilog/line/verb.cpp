#include "verb.hpp"

namespace epsilog::command {

OptionUse use_of(std::string_view name, Kept kept, bool required, std::string_view help) {
  const OptionSpec* option = find_option(name);
  EPSILOG_INVARIANT(option != nullptr);
  EPSILOG_INVARIANT(option->takes_value() == (kept != Kept::flag));
  EPSILOG_INVARIANT(option->repeatable == (kept == Kept::texts));
  return {option, required, help.empty() ? option->help : help};
}

}  // namespace epsilog::command
