#include "counted_cells.hpp"

#include <algorithm>
#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

std::size_t place_among_declared(const Column& column, const std::string& value) {
  const auto found = std::find(column.values.begin(), column.values.end(), value);
  EPSILOG_INVARIANT(found != column.values.end());
  return static_cast<std::size_t>(found - column.values.begin());
}

CountedCells::CountedCells(const Dataset& dataset, const Statistic& statistic, By by, RowReading& reading)
    : by_(by),
      has_stand_in_(dataset.column(statistic.subject)->missing.has_value()),
      column_(reading.number_of(statistic.subject)) {
  const Column& column = *dataset.column(statistic.subject);
  if (by == By::every_value) {
    places_ = column.values.size() + 1;
  } else if (statistic.kind == StatisticKind::proportion) {
    value_ = place_among_declared(column, statistic.value);
    places_ = 2;
  } else if (statistic.kind == StatisticKind::distinct) {
    declared_only_ = true;
    places_ = column.values.size();
  }
}

}  // namespace epsilog::engine
