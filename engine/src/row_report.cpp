#include <algorithm>

#include "blocks.hpp"
#include "column_moments.hpp"
#include "row_answer.hpp"
#include "row_progress.hpp"
#include "row_units.hpp"

namespace epsilog::engine {
namespace {

std::size_t place_of(const std::vector<std::string>& columns, const std::string& wanted) {
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), wanted) - columns.begin());
}

/// Looks at every cell of one column.
class ColumnInspector {
 public:
  ColumnInspector(const Dataset& dataset, const Column& column) : reader_(CellReader::of(dataset, column)) {
    report_.column = column.name;
    if (column.bounds) range_.emplace(column);
    if (!column.values.empty()) values_.emplace(column);
  }

  void look(const RawCell& raw) {
    const Cell cell = reader_.read(raw);
    if (cell.missing) {
      ++report_.missing;
      return;
    }
    if (range_ && (range_->below(cell) || range_->above(cell))) ++report_.out_of_bounds;
    if (values_ && !values_->find(cell)) ++report_.undeclared;
  }

  [[nodiscard]] const DataReport::ColumnReport& report() const { return report_; }

 private:
  CellReader reader_;
  DataReport::ColumnReport report_;
  std::optional<ColumnRange> range_;
  std::optional<DeclaredValues> values_;
};

}  // namespace

DataReport report_rows(RowSource& rows, const Dataset& dataset, const Progress& progress) {
  const std::vector<std::string> columns = required_columns(dataset);
  std::vector<std::size_t> places;
  std::vector<ColumnInspector> inspectors;
  for (const Column& column : dataset.columns) {
    places.push_back(place_of(columns, column.name));
    inspectors.emplace_back(dataset, column);
  }
  const bool has_unit = !dataset.unit.is_row();
  const std::size_t block_place = dataset.blocks ? place_of(columns, dataset.blocks->by) : 0;
  const auto blocks = dataset.blocks ? std::optional<BlockMembership>(dataset) : std::nullopt;
  ContributionBound bound(dataset.unit.max_rows);
  std::vector<RawCell> cells(columns.size());
  ScanProgress told(progress);
  DataReport report;
  std::uint64_t outside_blocks = 0;
  std::uint64_t kept = 0;
  for (auto record = rows.next(cells); record != RowSource::Record::none; record = rows.next(cells)) {
    ++report.rows;
    if (record == RowSource::Record::malformed) ++report.malformed;
    for (std::size_t i = 0; i < inspectors.size(); ++i) inspectors[i].look(cells[places[i]]);
    if (blocks && !blocks->contains(cells[block_place])) {
      ++outside_blocks;
    } else if (has_unit && cells[0].missing) {
      ++report.without_unit;
    } else if (has_unit && !bound.admit(cells[0].text).kept) {
      ++report.over_max_rows;
    } else {
      ++kept;
    }
    told.row(rows);
  }
  told.done();
  report.units = has_unit ? bound.units() : report.rows - outside_blocks;
  if (blocks) report.outside_blocks = outside_blocks;
  report.beyond_rows_max = kept > dataset.rows.count ? kept - dataset.rows.count : 0;
  for (const ColumnInspector& inspector : inspectors) report.columns.push_back(inspector.report());
  return report;
}

}  // namespace epsilog::engine
