#include "counted_cells.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "row_rules.hpp"

namespace epsilog::engine {

CountedCells::CountedCells(const Dataset& dataset, const Statistic& statistic,
                           const std::vector<std::string>& wanted)
    : kind_(statistic.kind),
      at_(place_of(wanted, dataset.read_from(statistic.subject))),
      reader_(ColumnReader::of(dataset, *dataset.column(statistic.subject))),
      has_stand_in_(dataset.column(statistic.subject)->missing.has_value()) {
  if (kind_ == StatisticKind::count_of) return;
  const Column& column = *dataset.column(statistic.subject);
  values_.emplace(column);
  places_ = column.values.size();
  if (kind_ != StatisticKind::proportion) return;
  const auto found = std::find(column.values.begin(), column.values.end(), statistic.value);
  EPSILOG_INVARIANT(found != column.values.end());
  value_ = static_cast<std::size_t>(found - column.values.begin());
  places_ = 2;
}

std::optional<std::size_t> CountedCells::find(std::span<const RawCell> cells) const {
  const Cell cell = reader_.read(cells[at_]);
  if (kind_ == StatisticKind::distinct) return values_->find(cell);
  if (cell.missing && !has_stand_in_) return std::nullopt;
  if (kind_ == StatisticKind::count_of) return 0;
  return values_->find(cell) == value_ ? 0 : 1;
}

}  // namespace epsilog::engine
