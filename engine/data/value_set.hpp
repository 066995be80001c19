// Sets of whole numbers, as the intervals that they are made of: which cells of a column satisfy a condition.
//
// Requires  every number in them is at least 2 away from the ends of Int128.
// Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "exact_sum.hpp"

namespace epsilog::engine {

class ValueSet final {
 public:
  struct Interval {
    Int128 first;
    Int128 last;
  };

  /// The empty set.
  ValueSet() = default;
  /// From first to last; empty if there is nothing between them.
  ValueSet(Int128 first, Int128 last);
  [[nodiscard]] static ValueSet of(const std::vector<Int128>& values);

  [[nodiscard]] bool empty() const noexcept { return intervals_.empty(); }
  /// Whether some number from first to last is in it.
  [[nodiscard]] bool meets(Int128 first, Int128 last) const;
  /// Of each of some ascending numbers whether it is in it, in time of all of them and the intervals
  /// together.
  [[nodiscard]] std::vector<char> holds_each(const std::vector<Int128>& ascending) const;

  /// What at least `least` of the sets have: all of them, or any. In time n log n of their intervals
  /// together.
  /// Requires  least > 0.
  [[nodiscard]] static ValueSet in_at_least(std::size_t least, std::span<const ValueSet> sets);
  /// What is from first to last and not in it.
  [[nodiscard]] ValueSet missing_from(Int128 first, Int128 last) const;

 private:
  std::vector<Interval> intervals_;  ///< ascending, none empty, none beginning right behind another
};

}  // namespace epsilog::engine
