#include "quantile_utility.hpp"

#include <algorithm>

namespace epsilog::mechanisms {
namespace {

/// Of fewer than 2^64 numbers of rows the sum, whatever they are: one that wrapped around would be far from
/// its neighbours'.
__extension__ using RowSum = unsigned __int128;

Integer whole(RowSum value) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  return (Integer(static_cast<unsigned long>(value >> 64)) << 64) +
         Integer(static_cast<unsigned long>(value));
}

}  // namespace

CandidateRange range_of(const QuantileNode& node, std::span<const std::uint64_t> selected,
                        std::uint64_t candidates) {
  return {.first = node.lower ? selected[*node.lower] : 0,
          .last = node.upper ? selected[*node.upper] : candidates - 1,
          .rows_first = node.lower ? selected[*node.lower] + 1 : 0};
}

std::vector<CandidateRows> in_order(std::vector<CandidateRows> rows, std::uint64_t last) {
  for (CandidateRows& each : rows) each.candidate = std::min(each.candidate, last);
  const auto earlier = [](const CandidateRows& a, const CandidateRows& b) {
    return a.candidate < b.candidate;
  };
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::sort(rows.begin(), rows.end(), earlier);
  std::erase_if(rows, [](const CandidateRows& each) { return each.rows == 0; });
  return rows;
}

std::vector<DistanceRun> distance_runs(std::span<const CandidateRows> rows, const CandidateRange& range,
                                       const Rational& quantile) {
  const auto reaches = [](const CandidateRows& each, std::uint64_t candidate) {
    return each.candidate < candidate;
  };
  const auto begin = std::lower_bound(rows.begin(), rows.end(), range.rows_first, reaches);
  const auto end = std::lower_bound(begin, rows.end(), range.last + 1, reaches);
  RowSum all = 0;
  for (auto each = begin; each != end; ++each) all += each->rows;
  const Integer target = quantile.get_num() * whole(all);

  std::vector<DistanceRun> runs;
  runs.reserve(std::min<std::size_t>(2 * static_cast<std::size_t>(end - begin) + 1,
                                     static_cast<std::size_t>(range.last - range.first) + 1));
  std::uint64_t next = range.first;
  RowSum below = 0;
  // Nearly always all products are machine integers.
  constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
  const bool narrow =
      abs(quantile.get_num()) < kNarrow && quantile.get_den() < kNarrow && all < RowSum{kNarrow};
  const long narrow_target = narrow ? target.get_si() : 0;
  const long narrow_den = narrow ? quantile.get_den().get_si() : 0;
  const auto add = [&](std::uint64_t count, RowSum up_to) {
    if (count == 0) return;
    DistanceRun& run = runs.emplace_back();
    run.count = count;
    if (narrow) {
      const long before = narrow_den * static_cast<long>(below) - narrow_target;
      const long after = narrow_target - narrow_den * static_cast<long>(up_to);
      run.distance = std::max({before, after, 0L});
      next += count;
      return;
    }
    run.distance = quantile.get_den() * whole(below) - target;  // how far the target lies below #<c,
    if (run.distance < 0) {
      run.distance = target - quantile.get_den() * whole(up_to);  // or above #<=c
      if (run.distance < 0) run.distance = 0;
    }
    next += count;
  };
  for (auto each = begin; each != end;) {
    const std::uint64_t candidate = each->candidate;
    RowSum up_to = below;
    for (; each != end && each->candidate == candidate; ++each) up_to += each->rows;
    add(candidate - next, below);
    add(1, up_to);
    below = up_to;
  }
  add(range.last + 1 - next, below);
  return runs;
}

}  // namespace epsilog::mechanisms
