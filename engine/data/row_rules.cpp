#include "row_rules.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

std::size_t column_index(const std::vector<std::string>& columns, const std::string& wanted) {
  const auto found = std::find(columns.begin(), columns.end(), wanted);
  EPSILOG_INVARIANT(found != columns.end());
  return static_cast<std::size_t>(found - columns.begin());
}

RowRules::RowRules(const Dataset& dataset, const std::vector<std::string>& columns)
    : has_unit_(!dataset.unit.is_row()), bound_(dataset.unit.max_rows) {
  if (!dataset.blocks) return;
  block_column_ = column_index(columns, dataset.read_from(dataset.blocks->by));
  block_.emplace(dataset);
}

}  // namespace epsilog::engine
