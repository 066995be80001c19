#include "without_paths.hpp"

#include <algorithm>

namespace epsilog::serve {
namespace {

/// One of them, or one with more behind its name: what lies beside it, or the end of a sentence.
bool is_known(std::string_view path, const std::vector<std::string>& known) {
  return std::any_of(known.begin(), known.end(), [&](const std::string& one) {
    return path.starts_with(one) && path.substr(one.size()).find('/') == std::string_view::npos;
  });
}

}  // namespace

std::string without_paths(std::string_view text, const std::vector<std::string>& known) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const bool begins = text[i] == '/' && (before == ' ' || before == '\'' || before == '"' || before == '(');
    if (!begins) {
      result += text[i++];
      continue;
    }
    const std::size_t begin = i;
    // Of a path in quotes blanks are a part, and it ends with its quote.
    const bool quoted = before == '\'' || before == '"';
    while (i < text.size() && (quoted ? text[i] != before : text[i] != ' ')) ++i;
    const std::string_view path = text.substr(begin, i - begin);
    result += is_known(path, known) ? path : "(a path)";
  }
  return result;
}

std::vector<PolicyFault> without_paths(std::vector<PolicyFault> faults) {
  for (PolicyFault& fault : faults) fault.message = without_paths(fault.message);
  return faults;
}

}  // namespace epsilog::serve
