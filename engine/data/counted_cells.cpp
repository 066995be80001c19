#include "counted_cells.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

CountedCells::CountedCells(const Dataset& dataset, const Statistic& statistic, RowReading& reading)
    : kind_(statistic.kind),
      has_stand_in_(dataset.column(statistic.subject)->missing.has_value()),
      column_(reading.number_of(statistic.subject)) {
  if (kind_ == StatisticKind::count_of) return;
  const Column& column = *dataset.column(statistic.subject);
  places_ = column.values.size();
  if (kind_ != StatisticKind::proportion) return;
  const auto found = std::find(column.values.begin(), column.values.end(), statistic.value);
  EPSILOG_INVARIANT(found != column.values.end());
  value_ = static_cast<std::size_t>(found - column.values.begin());
  places_ = 2;
}

}  // namespace epsilog::engine
