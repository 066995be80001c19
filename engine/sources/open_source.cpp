#include "open_source.hpp"

#include <algorithm>
#include <filesystem>

#include "csv_source.hpp"
#include "epsilog/accounting/errors.hpp"
#include "sqlite_source.hpp"

namespace epsilog::engine {
namespace {

std::vector<std::string> headers(const Dataset& dataset, const std::vector<std::string>& columns) {
  std::vector<std::string> result;
  for (const std::string& column : columns) result.push_back(dataset.header(column));
  return result;
}

}  // namespace

std::vector<std::string> required_columns(const Dataset& dataset) {
  std::vector<std::string> result;
  if (!dataset.unit.is_row()) result.push_back(dataset.unit.id);
  for (const Column& column : dataset.columns) {
    if (column.name != dataset.unit.id && !column.derived) result.push_back(column.name);
  }
  return result;
}

std::unique_ptr<RowSource> open_source(const Dataset& dataset, const std::vector<std::string>& wanted,
                                       const std::string& base_dir) {
  EPSILOG_INVARIANT(dataset.has_source());
  const std::string& written = dataset.csv ? dataset.csv->path : dataset.sqlite->path;
  const std::string path = (std::filesystem::path(base_dir) / written).string();
  const std::vector<std::string> required = headers(dataset, required_columns(dataset));
  if (dataset.csv) return open_csv_source(path, *dataset.csv, required, headers(dataset, wanted));
  return open_sqlite_source(path, dataset.sqlite->table, required, headers(dataset, wanted));
}

}  // namespace epsilog::engine
