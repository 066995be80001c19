#include "without_paths.hpp"

namespace epsilog::serve {

std::string without_paths(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const bool begins = text[i] == '/' && (before == ' ' || before == '\'' || before == '"' || before == '(');
    if (!begins) {
      result += text[i++];
      continue;
    }
    result += "(a path)";
    // Of a path in quotes blanks are a part, and it ends with its quote.
    const bool quoted = before == '\'' || before == '"';
    while (i < text.size() && (quoted ? text[i] != before : text[i] != ' ')) ++i;
  }
  return result;
}

std::vector<PolicyFault> without_paths(std::vector<PolicyFault> faults) {
  for (PolicyFault& fault : faults) fault.message = without_paths(fault.message);
  return faults;
}

}  // namespace epsilog::serve
