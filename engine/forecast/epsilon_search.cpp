#include "epsilon_search.hpp"

#include <algorithm>

namespace epsilog::engine {
namespace {

/// Narrows to neighbours. One end of the result does and the other does not, as at the start.
struct Bracket {
  std::int64_t does;
  std::int64_t does_not;
};
std::int64_t narrow_bracket(Bracket bracket, const EpsilonTest& does) {
  while (std::max(bracket.does, bracket.does_not) - std::min(bracket.does, bracket.does_not) > 1) {
    const std::int64_t low = std::min(bracket.does, bracket.does_not);
    const std::int64_t middle = low + (std::max(bracket.does, bracket.does_not) - low) / 2;
    (does(middle) ? bracket.does : bracket.does_not) = middle;
  }
  return bracket.does;
}

std::int64_t doubled(std::int64_t units, std::int64_t most) {
  return units > most / 2 ? most : 2 * units;
}

/// The last of start, 2 start, 4 start, …, most that does, with the first that does not; `start` does.
std::int64_t upper_end(std::int64_t start, std::int64_t most, const EpsilonTest& does) {
  std::int64_t known = start;
  while (known < most) {
    const std::int64_t next = doubled(known, most);
    if (!does(next)) return narrow_bracket({.does = known, .does_not = next}, does);
    known = next;
  }
  return most;
}

/// The first of start/2, start/4, …, 1 that does, 0 for none.
std::int64_t first_below(std::int64_t start, const EpsilonTest& does) {
  std::int64_t units = start / 2;
  while (units > 0 && !does(units)) units /= 2;
  return units;
}

}  // namespace

std::optional<std::int64_t> largest_passing(std::int64_t start, std::int64_t most, const EpsilonTest& does) {
  if (does(most)) return most;
  const std::int64_t from = std::min(start, most);
  if (does(from)) return upper_end(from, most, does);
  const std::int64_t found = first_below(from, does);
  if (found == 0) return std::nullopt;
  return upper_end(found, from, does);
}

std::optional<std::int64_t> least_passing(std::int64_t start, std::int64_t most, const EpsilonTest& does) {
  std::int64_t missed = 0;
  std::int64_t found = start;
  if (!does(start)) {
    do {
      if (found == most) return std::nullopt;
      missed = found;
      found = doubled(found, most);
    } while (!does(found));
    return narrow_bracket({.does = found, .does_not = missed}, does);
  }
  while (found > 1) {
    const std::int64_t next = found / 2;
    if (!does(next)) return narrow_bracket({.does = found, .does_not = next}, does);
    found = next;
  }
  return found;
}

std::int64_t debits_that_fit(const accounting::Balance& balance, std::int64_t asked) noexcept {
  return balance.remaining() / asked;
}

}  // namespace epsilog::engine
