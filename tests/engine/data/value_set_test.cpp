// Sets of intervals against sets of numbers.
#include "value_set.hpp"

#include "support/catch.hpp"

using namespace epsilog::engine;

namespace {

constexpr int kFirst = -4;
constexpr int kLast = 12;

std::set<int> numbers_of(const ValueSet& set) {
  std::set<int> result;
  for (int i = kFirst - 2; i <= kLast + 2; ++i) {
    if (set.meets(i, i)) result.insert(i);
  }
  return result;
}

}  // namespace

TEST_CASE("value set: it has what random sets of numbers have", "[engine][condition][property]") {
  constexpr unsigned kSeed = 20261123;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  const auto between = [&random](int first, int last) {
    return first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1));
  };
  for (int round = 0; round < 3'000; ++round) {
    std::vector<ValueSet> sets;
    std::vector<std::set<int>> numbers;
    for (int i = between(0, 4); i > 0; --i) {
      std::set<int> these;
      if (between(0, 1) == 0) {
        const int first = between(kFirst, kLast);
        const int last = between(kFirst, kLast);
        for (int n = first; n <= last; ++n) these.insert(n);
        sets.emplace_back(first, last);
      } else {
        std::vector<Int128> values;
        for (int n = between(0, 6); n > 0; --n) {
          values.push_back(between(kFirst, kLast));
          these.insert(static_cast<int>(values.back()));
        }
        sets.push_back(ValueSet::of(values));
      }
      if (between(0, 2) == 0) {
        sets.back() = sets.back().missing_from(kFirst, kLast);
        std::set<int> rest;
        for (int n = kFirst; n <= kLast; ++n) {
          if (!these.contains(n)) rest.insert(n);
        }
        these = rest;
      }
      REQUIRE(numbers_of(sets.back()) == these);
      REQUIRE(sets.back().empty() == these.empty());
      numbers.push_back(these);
    }
    const auto least = static_cast<std::size_t>(between(1, 4));
    std::set<int> expected;
    for (int n = kFirst; n <= kLast; ++n) {
      std::size_t having = 0;
      for (const std::set<int>& these : numbers) having += these.contains(n) ? 1 : 0;
      if (having >= least) expected.insert(n);
    }
    const ValueSet found = ValueSet::in_at_least(least, sets);
    REQUIRE(numbers_of(found) == expected);
    const int first = between(kFirst, kLast);
    const int last = between(first, kLast);
    const auto meeting = expected.lower_bound(first);
    REQUIRE(found.meets(first, last) == (meeting != expected.end() && *meeting <= last));
  }
}
