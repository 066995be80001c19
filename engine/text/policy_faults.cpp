#include "policy_faults.hpp"

#include <algorithm>
#include <tuple>

#include "epsilog/engine/nearest.hpp"

namespace epsilog::engine {

std::string Faults::suggestion(std::string_view wanted, const std::vector<std::string>& candidates) const {
  constexpr std::size_t kFaultsWithSuggestions = 100;
  if (faults_.size() >= kFaultsWithSuggestions) return "";
  const std::string near = nearest(wanted, candidates);
  return near.empty() ? "" : " Did you mean '" + near + "'?";
}

PolicyError Faults::error() const {
  std::vector<PolicyFault> ordered = faults_;
  std::stable_sort(ordered.begin(), ordered.end(), [](const PolicyFault& a, const PolicyFault& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return PolicyError(std::move(ordered));
}

std::string quoted_excerpt(std::string_view text) {
  constexpr std::size_t kShownMax = 60;
  std::string result = "'";
  std::size_t points = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool starts_code_point = (byte & 0xC0U) != 0x80U;
    if (starts_code_point && ++points > kShownMax) return result + "…'";
    result += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return result + "'";
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) {
    if (!result.empty()) result += ", ";
    result += word;
  }
  return result;
}

}  // namespace epsilog::engine
