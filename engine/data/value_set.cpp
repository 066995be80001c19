#include "value_set.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::engine {

ValueSet::ValueSet(Int128 first, Int128 last) {
  if (first <= last) intervals_.push_back({first, last});
}

ValueSet ValueSet::of(const std::vector<Int128>& values) {
  std::vector<ValueSet> points;
  points.reserve(values.size());
  for (const Int128 value : values) points.emplace_back(value, value);
  return in_at_least(1, points);
}

bool ValueSet::meets(Int128 first, Int128 last) const {
  const auto found = std::lower_bound(intervals_.begin(), intervals_.end(), first,
                                      [](const Interval& one, Int128 value) { return one.last < value; });
  return found != intervals_.end() && found->first <= last;
}

std::vector<char> ValueSet::holds_each(const std::vector<Int128>& ascending) const {
  std::vector<char> result;
  result.reserve(ascending.size());
  auto at = intervals_.begin();
  for (const Int128 value : ascending) {
    while (at != intervals_.end() && at->last < value) ++at;
    result.push_back(at != intervals_.end() && at->first <= value ? 1 : 0);
  }
  return result;
}

ValueSet ValueSet::in_at_least(std::size_t least, std::span<const ValueSet> sets) {
  std::vector<std::pair<Int128, int>> changes;  // of how many sets hold the numbers from there on
  for (const ValueSet& set : sets) {
    for (const Interval& interval : set.intervals_) {
      changes.emplace_back(interval.first, 1);
      changes.emplace_back(interval.last + 1, -1);
    }
  }
  std::sort(changes.begin(), changes.end());
  ValueSet result;
  std::int64_t held = 0;
  bool inside = false;
  for (std::size_t i = 0; i < changes.size();) {
    const Int128 at = changes[i].first;
    for (; i < changes.size() && changes[i].first == at; ++i) held += changes[i].second;
    const bool enough = held >= static_cast<std::int64_t>(least);
    if (enough && !inside) result.intervals_.push_back({at, at});
    if (!enough && inside) result.intervals_.back().last = at - 1;
    inside = enough;
  }
  return result;
}

ValueSet ValueSet::missing_from(Int128 first, Int128 last) const {
  ValueSet result;
  for (const Interval& interval : intervals_) {
    if (first < interval.first && first <= last) {
      result.intervals_.push_back({first, std::min(last, interval.first - 1)});
    }
    first = std::max(first, interval.last + 1);
  }
  if (first <= last) result.intervals_.push_back({first, last});
  return result;
}

}  // namespace epsilog::engine
