#include "blocks.hpp"

#include "calendar.hpp"
#include "cell_numbering.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "labelled_cells.hpp"
#include "row_filter.hpp"

namespace epsilog::engine {
namespace {

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

std::vector<std::string> covered_periods(const Dataset& dataset, const Predicate& about) {
  const Blocks& blocks = *dataset.blocks;
  const ValueSet satisfying = CellNumbering(dataset, column_of(dataset), about).satisfying_all();
  std::vector<std::string> result;
  visit_periods(blocks, [&](const DayRange& days) {
    if (satisfying.meets(days.first, days.last)) result.push_back(period_name(*blocks.per, days.first));
  });
  return result;
}

/// A declared value is the only value in its block, so it is asked what a row's cell would be asked.
std::vector<std::string> covered_values(const Dataset& dataset, const Predicate& about) {
  const Column& column = column_of(dataset);
  const RowFilter filter(dataset, about, {column.name}, CellDialect{});
  std::vector<std::string> result;
  for (const std::string& value : column.values) {
    const RawCell cell{value, false};
    if (filter.keeps({&cell, 1})) result.push_back(value);
  }
  return result;
}

std::vector<std::string> covered_labels(const Dataset& dataset, const Predicate& where) {
  const accounting::DefaultFloatingPoint floating_point;  // subnormal numbers are cells too
  const Column& column = column_of(dataset);
  const std::vector<bool> covered = LabelledCells(dataset, column, where).satisfying();
  std::vector<std::string> result;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (covered[i]) result.push_back(column.values[i]);
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
  if (where && column_of(dataset).derived) return covered_labels(dataset, *where);
  const std::optional<Predicate> about = where ? where->about(dataset.blocks->by) : std::nullopt;
  if (!about) return block_names(dataset);
  return dataset.blocks->per ? covered_periods(dataset, *about) : covered_values(dataset, *about);
}

BlockMembership::BlockMembership(const Dataset& dataset)
    : reader_(ColumnReader::of(dataset, column_of(dataset))),
      first_day_(dataset.blocks->first_day),
      last_day_(dataset.blocks->last_day) {
  if (!dataset.blocks->per) values_.emplace(column_of(dataset));
}

bool BlockMembership::contains(const RawCell& raw) const {
  const Cell cell = reader_.read(raw);
  if (values_) return values_->find(cell) != kNoIndex;
  return !cell.missing && cell.fixed >= first_day_ && cell.fixed <= last_day_;
}

}  // namespace epsilog::engine
