#include "table_box.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using accounting::TableMargins;
using mechanisms::AnswerInterval;
using Margin = TableMargins::Margin;

/// Whether `inner` is `outer` summed over one column.
bool sums_one_column(const Margin& outer, const Margin& inner) {
  return outer.kept.size() == inner.kept.size() + 1 &&
         std::includes(outer.kept.begin(), outer.kept.end(), inner.kept.begin(), inner.kept.end());
}

/// Returns for each cell of `inner` between what the cells of `outer` that it sums add up.
std::vector<AnswerInterval> sums(const TableMargins& margins, const Margin& outer, const Margin& inner,
                                 const std::vector<AnswerInterval>& box) {
  std::vector<AnswerInterval> result(inner.cells, {0, 0});
  for (std::uint64_t cell = 0; cell < outer.cells; ++cell) {
    AnswerInterval& sum = result[margins.within(outer, inner, cell)];
    sum.low += box[outer.first + cell].low;
    sum.high += box[outer.first + cell].high;
  }
  return result;
}

void narrow_totals(const TableMargins& margins, const Margin& outer, const Margin& inner,
                   std::vector<AnswerInterval>& box) {
  const std::vector<AnswerInterval> added = sums(margins, outer, inner, box);
  for (std::uint64_t cell = 0; cell < inner.cells; ++cell) narrow(box[inner.first + cell], added[cell]);
}

/// A cell is its total less the other cells.
void narrow_cells(const TableMargins& margins, const Margin& outer, const Margin& inner,
                  std::vector<AnswerInterval>& box) {
  const std::vector<AnswerInterval> added = sums(margins, outer, inner, box);
  for (std::uint64_t cell = 0; cell < outer.cells; ++cell) {
    const std::uint64_t total = margins.within(outer, inner, cell);
    AnswerInterval& one = box[outer.first + cell];
    const AnswerInterval &sum = added[total], &of_total = box[inner.first + total];
    narrow(one, {of_total.low - (sum.high - one.high), of_total.high - (sum.low - one.low)});
  }
}

}  // namespace

void narrow(AnswerInterval& interval, const AnswerInterval& other) {
  const accounting::Rational low = std::max(interval.low, other.low),
                             high = std::min(interval.high, other.high);
  if (low <= high) interval = {low, high};
}

void narrow_by_sums(const TableMargins& margins, std::vector<AnswerInterval>& box) {
  EPSILOG_INVARIANT(box.size() == margins.cells());
  const std::vector<Margin>& all = margins.all();
  const auto each_pair = [&](std::size_t inner, const auto& narrowing) {
    for (const Margin& outer : all) {
      if (sums_one_column(outer, all[inner])) narrowing(margins, outer, all[inner], box);
    }
  };
  for (std::size_t inner = 1; inner < all.size(); ++inner) each_pair(inner, narrow_totals);
  for (std::size_t inner = all.size() - 1; inner > 0; --inner) each_pair(inner, narrow_cells);
}

}  // namespace epsilog::engine
