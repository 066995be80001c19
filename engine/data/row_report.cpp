#include <algorithm>

#include "column_moments.hpp"
#include "column_reader.hpp"
#include "epsilog/accounting/errors.hpp"
#include "open_source.hpp"
#include "row_answer.hpp"
#include "row_progress.hpp"
#include "row_rules.hpp"

namespace epsilog::engine {
namespace {

void note_position(std::vector<std::uint64_t>& places, std::uint64_t position) {
  if (places.size() < DataReport::kPositionsMax) places.push_back(position);
}

/// Looks at every cell of one column.
class ColumnInspector {
 public:
  ColumnInspector(const Dataset& dataset, const Column& column)
      : reader_(ColumnReader::of(dataset, column)), derived_(column.derived.has_value()) {
    report_.column = column.name;
    if (column.bounds) range_.emplace(column);
    if (!column.values.empty()) values_.emplace(column);
  }

  void inspect(const RawCell& raw, RowSource::Record record, std::uint64_t position) {
    const Cell cell = reader_.read_source(raw);
    if (cell.missing) {
      ++report_.missing;
      if (record == RowSource::Record::malformed) return;
      if ((raw.missing || raw.text.empty()) && !raw.unreadable) {
        ++report_.nulls;
      } else {
        ++report_.unreadable;
        note_position(report_.unreadable_at, position);
      }
      return;
    }
    if (range_ && (range_->below(cell) || range_->above(cell))) ++report_.out_of_bounds;
    const bool undeclared = derived_ ? reader_.read(raw).missing : values_ && values_->find(cell) == kNoIndex;
    if (!undeclared) return;
    ++report_.undeclared;
    note_position(report_.undeclared_at, position);
  }

  [[nodiscard]] const DataReport::ColumnReport& report() const { return report_; }

 private:
  ColumnReader reader_;
  bool derived_;
  DataReport::ColumnReport report_;
  std::optional<ColumnRange> range_;
  std::optional<DeclaredValues> values_;
};

void count_fate(RowRules::Fate fate, DataReport& report) {
  switch (fate) {
    case RowRules::Fate::kept:
      ++report.kept;
      return;
    case RowRules::Fate::outside_blocks:
      ++*report.outside_blocks;
      return;
    case RowRules::Fate::without_unit:
      ++report.without_unit;
      return;
    case RowRules::Fate::over_max_rows:
      ++report.over_max_rows;
      return;
    case RowRules::Fate::not_selected:
      break;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

DataReport report_rows(RowSource& rows, const Dataset& dataset, const Progress& progress) {
  const std::vector<std::string> columns = required_columns(dataset);
  std::vector<std::size_t> places;
  std::vector<ColumnInspector> inspectors;
  for (const Column& column : dataset.columns) {
    places.push_back(column_index(columns, dataset.read_from(column.name)));
    inspectors.emplace_back(dataset, column);
  }
  RowRules rules(dataset, columns);
  UnitTable units;
  std::vector<RawCell> cells(columns.size());
  ScanProgress told(progress);
  DataReport report;
  if (dataset.blocks) report.outside_blocks = 0;
  for (auto record = rows.next(cells); record != RowSource::Record::none; record = rows.next(cells)) {
    ++report.rows;
    const std::uint64_t position = rows.position();
    if (record == RowSource::Record::malformed) {
      ++report.malformed;
      note_position(report.malformed_at, position);
    }
    for (std::size_t i = 0; i < inspectors.size(); ++i) {
      inspectors[i].inspect(cells[places[i]], record, position);
    }
    UnitOfRow unit(units, cells.empty() ? std::string_view() : cells[0].text);
    count_fate(rules.fate(rules.fate_before_question(cells), unit, [] { return true; }), report);
    told.row(rows);
  }
  told.done();
  report.units = rules.has_unit() ? units.size() : report.rows - report.outside_blocks.value_or(0);
  report.declared = dataset.rows;
  report.beyond_rows_max = report.kept > dataset.rows.count ? report.kept - dataset.rows.count : 0;
  for (const ColumnInspector& inspector : inspectors) report.columns.push_back(inspector.report());
  return report;
}

}  // namespace epsilog::engine
