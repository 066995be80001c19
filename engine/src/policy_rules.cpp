#include <algorithm>
#include <unordered_set>

#include "policy_decoder.hpp"

namespace epsilog::engine {
namespace {

/// A public exact size stays public only while every neighbour has it: replacing a row keeps it,
/// removing one does not, nor does leaving out a row whose cell is missing.
void check_exact_rows(const Dataset& dataset, const SectionMarks& marks, Faults& faults) {
  if (!dataset.rows.exact) return;
  if (dataset.neighbours != Neighbours::replace_one) {
    faults.add(marks.rows,
               "rows: {exact: N} needs neighbours: replace-one, since adding or removing a unit changes N");
  }
  if (dataset.unit.max_rows > dataset.rows.count) {
    faults.add(marks.unit, "unit.max_rows: " + std::to_string(dataset.unit.max_rows) + " is more than the " +
                               std::to_string(dataset.rows.count) + " rows there are");
  }
  for (const Column& column : dataset.columns) {
    if (!column.bounds || column.missing) continue;
    faults.add(column.mark,
               "columns." + column.name +
                   ": under rows: {exact: N} every row keeps its place, so a missing cell needs a constant; "
                   "add missing: " +
                   accounting::text(column.bounds->lower) + " or another number in the bounds");
  }
}

/// A declared value that a CSV cell can never hold would be a cell of a histogram that counts nothing.
void check_values_can_occur(const Dataset& dataset, Faults& faults) {
  if (!dataset.csv) return;
  const std::unordered_set<std::string> null(dataset.csv->null.begin(), dataset.csv->null.end());
  for (const Column& column : dataset.columns) {
    for (const std::string& value : column.values) {
      if (!null.contains(value)) continue;
      faults.add(column.mark, "columns." + column.name + ".values: " + shown(value) +
                                  " is listed under source.null and would always be missing");
    }
  }
}

}  // namespace

void check_rules(const Dataset& dataset, const SectionMarks& marks, Faults& faults) {
  check_exact_rows(dataset, marks, faults);
  check_values_can_occur(dataset, faults);
}

}  // namespace epsilog::engine
