#include "epsilog/engine/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace epsilog::engine {
namespace {

constexpr std::size_t kLongestCompared = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from a to b, ignoring
/// ASCII case (the "optimal string alignment" distance).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// A longer or shorter form of the same word: integer for int, str for string.
bool is_beginning_of(std::string_view a, std::string_view b) {
  constexpr std::size_t kTelling = 3;
  return a.size() >= kTelling && b.starts_with(a);
}

}  // namespace

std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates) {
  if (wanted.size() < 2 || wanted.size() > kLongestCompared) return "";
  // One slip in a short word, one in three characters of a longer one: beyond that a suggestion is
  // more often wrong than right.
  std::size_t best = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(candidate.size(), wanted.size());
    const std::size_t shorter = std::min(candidate.size(), wanted.size());
    if (longer - shorter >= best || longer > kLongestCompared) continue;
    const std::size_t distance = edits(wanted, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      found = candidate;
    }
  }
  if (!found.empty()) return found;
  for (const std::string& candidate : candidates) {
    if (is_beginning_of(candidate, wanted) || is_beginning_of(wanted, candidate)) return candidate;
  }
  return "";
}

}  // namespace epsilog::engine
