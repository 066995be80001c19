#include "blocks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "calendar.hpp"
#include "epsilog/accounting/errors.hpp"
#include "row_filter.hpp"

namespace epsilog::engine {
namespace {

using Operator = Comparison::Operator;

const Column& column_of(const Dataset& dataset) {
  const Column* column = dataset.column(dataset.blocks->by);
  EPSILOG_INVARIANT(column != nullptr);
  return *column;
}

/// Visits every period of a calendar partition, in order.
template <class Visit>
void visit_periods(const Blocks& blocks, const Visit& visit) {
  for (std::int64_t day = blocks.first_day; day <= blocks.last_day;) {
    const DayRange days = period_of(*blocks.per, day);
    visit(days);
    day = days.last + 1;
  }
}

std::vector<std::int64_t> sorted_days(const Comparison& comparison) {
  std::vector<std::int64_t> result;
  for (const auto& constant : comparison.constants) {
    result.push_back(std::get<Comparison::Date>(constant).days);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// The days that satisfy comparisons: those from first to last that are not excluded; and once days were
/// listed by = or in, only those of them.
class SatisfyingDays {
 public:
  explicit SatisfyingDays(const std::vector<Comparison>& comparisons) {
    for (const Comparison& comparison : comparisons) narrow(comparison);
    std::sort(excluded_.begin(), excluded_.end());
    excluded_.erase(std::unique(excluded_.begin(), excluded_.end()), excluded_.end());
  }

  [[nodiscard]] bool any_in(DayRange days) const {
    days = {std::max(days.first, first_), std::min(days.last, last_)};
    if (days.first > days.last) return false;
    if (!listed_) {
      return static_cast<std::int64_t>(within(excluded_, days).size()) < days.last - days.first + 1;
    }
    const auto candidates = within(*listed_, days);
    return std::any_of(candidates.begin(), candidates.end(), [&](std::int64_t day) {
      return !std::binary_search(excluded_.begin(), excluded_.end(), day);
    });
  }

 private:
  void narrow(const Comparison& comparison) {
    const std::vector<std::int64_t> days = sorted_days(comparison);
    switch (comparison.op) {
      case Operator::equal:
      case Operator::in:
        list(days);
        break;
      case Operator::not_equal:
        excluded_.push_back(days.front());
        break;
      case Operator::less:
        last_ = std::min(last_, days.front() - 1);
        break;
      case Operator::less_equal:
        last_ = std::min(last_, days.front());
        break;
      case Operator::greater:
        first_ = std::max(first_, days.front() + 1);
        break;
      case Operator::greater_equal:
        first_ = std::max(first_, days.front());
        break;
    }
  }

  void list(const std::vector<std::int64_t>& days) {
    if (!listed_) {
      listed_ = days;
      return;
    }
    std::vector<std::int64_t> both;
    std::set_intersection(listed_->begin(), listed_->end(), days.begin(), days.end(),
                          std::back_inserter(both));
    listed_ = std::move(both);
  }

  static std::span<const std::int64_t> within(const std::vector<std::int64_t>& sorted, const DayRange& days) {
    const auto begin = std::lower_bound(sorted.begin(), sorted.end(), days.first);
    return {begin, std::upper_bound(begin, sorted.end(), days.last)};
  }

  std::int64_t first_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_ = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> excluded_;               ///< sorted, distinct
  std::optional<std::vector<std::int64_t>> listed_;  ///< sorted, distinct
};

std::vector<std::string> covered_periods(const Blocks& blocks, const std::vector<Comparison>& comparisons) {
  const SatisfyingDays satisfying(comparisons);
  std::vector<std::string> result;
  visit_periods(blocks, [&](const DayRange& days) {
    if (satisfying.any_in(days)) result.push_back(period_name(*blocks.per, days.first));
  });
  return result;
}

/// A declared value is the only value in its block, so it is asked what a row's cell would be asked.
std::vector<std::string> covered_values(const Dataset& dataset, const std::vector<Comparison>& comparisons) {
  const Column& column = column_of(dataset);
  const RowFilter filter(dataset, comparisons, {column.name}, CellDialect{});
  std::vector<std::string> result;
  for (const std::string& value : column.values) {
    const RawCell cell{value, false};
    if (filter.keeps({&cell, 1})) result.push_back(value);
  }
  return result;
}

}  // namespace

std::vector<std::string> block_names(const Dataset& dataset) {
  if (!dataset.blocks) return {};
  if (!dataset.blocks->per) return column_of(dataset).values;
  std::vector<std::string> result;
  visit_periods(*dataset.blocks, [&](const DayRange& days) {
    result.push_back(period_name(*dataset.blocks->per, days.first));
  });
  return result;
}

std::vector<std::string> covered_blocks(const Dataset& dataset, const std::optional<Predicate>& where) {
  if (!dataset.blocks) return {};
  std::vector<Comparison> comparisons;
  if (where) {
    std::copy_if(where->comparisons().begin(), where->comparisons().end(), std::back_inserter(comparisons),
                 [&](const Comparison& comparison) { return comparison.column == dataset.blocks->by; });
  }
  if (comparisons.empty()) return block_names(dataset);
  return dataset.blocks->per ? covered_periods(*dataset.blocks, comparisons)
                             : covered_values(dataset, comparisons);
}

BlockMembership::BlockMembership(const Dataset& dataset)
    : reader_(CellReader::of(dataset, column_of(dataset))),
      first_day_(dataset.blocks->first_day),
      last_day_(dataset.blocks->last_day) {
  if (!dataset.blocks->per) values_.emplace(column_of(dataset));
}

bool BlockMembership::contains(const RawCell& raw) const {
  const Cell cell = reader_.read(raw);
  if (values_) return values_->find(cell).has_value();
  return !cell.missing && cell.fixed >= first_day_ && cell.fixed <= last_day_;
}

}  // namespace epsilog::engine
