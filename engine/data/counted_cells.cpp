#include "counted_cells.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

std::size_t place_among_declared(const Column& column, const std::string& value) {
  const auto found = std::find(column.values.begin(), column.values.end(), value);
  EPSILOG_INVARIANT(found != column.values.end());
  return static_cast<std::size_t>(found - column.values.begin());
}

}  // namespace

CountedCells::CountedCells(const Dataset& dataset, const Statistic& statistic, By by, RowReading& reading)
    : by_(by),
      declared_(*dataset.column(statistic.subject)),
      has_stand_in_(declared_.missing.has_value()),
      column_(reading.number_of(statistic.subject)) {
  if (by == By::every_value) {
    category_count_ = declared_.values.size() + 1;
  } else if (statistic.kind == StatisticKind::proportion) {
    value_ = place_among_declared(declared_, statistic.value);
    category_count_ = 2;
  } else if (statistic.kind == StatisticKind::distinct) {
    declared_only_ = true;
    category_count_ = declared_.values.size();
  }
}

std::size_t CountedCells::category_of(const std::string& value) const {
  return by_ == By::statistic ? 0 : place_among_declared(declared_, value);
}

}  // namespace epsilog::engine
