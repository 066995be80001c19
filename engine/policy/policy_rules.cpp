#include <algorithm>
#include <unordered_set>

#include "measure_limits.hpp"
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
    if (!column.bounds || column.missing || !is_numeric(column.type)) continue;
    faults.add(column.mark,
               "columns." + column.name +
                   ": under rows: {exact: N} every row keeps its place, so a missing cell needs a constant; "
                   "add missing: " +
                   accounting::text(column.bounds->lower) + " or another number in the bounds");
  }
}

/// How a cell says a declared value, of a date the only way there is.
std::string cell_of(const std::string& value, const Column& column, DateFormat format) {
  if (column.type != ColumnType::date || format == DateFormat::year_month_day) return value;
  const std::string year = value.substr(0, 4), month = value.substr(5, 2), day = value.substr(8, 2);
  if (format == DateFormat::month_day_year) return month + "/" + day + "/" + year;
  const std::string between = format == DateFormat::day_month_year_dotted ? "." : "/";
  return day + between + month + between + year;
}

/// A declared value that a CSV cell can never hold would be a cell of a histogram that counts nothing.
void check_values_can_occur(const Dataset& dataset, Faults& faults) {
  if (!dataset.csv) return;
  const std::unordered_set<std::string> null(dataset.csv->null.begin(), dataset.csv->null.end());
  const auto check = [&](const Column& declares, const Column& source, std::string_view key,
                         const std::string& value) {
    if (!null.contains(cell_of(value, source, dataset.csv->date_format))) return;
    faults.add(declares.mark, "columns." + declares.name + "." + std::string(key) + ": " +
                                  quoted_excerpt(value) +
                                  " is listed under source.null and would always be missing");
  };
  for (const Column& column : dataset.columns) {
    if (column.derived) {
      const Column& source = *dataset.column(column.derived->from);
      for (const auto& [value, label] : column.derived->map) check(column, source, "map", value);
    } else {
      for (const std::string& value : column.values) check(column, column, "values", value);
    }
  }
}

/// Whose rows they are is said by the source.
void check_unit_id(const Dataset& dataset, const SectionMarks& marks, Faults& faults) {
  const Column* column = dataset.unit.is_row() ? nullptr : dataset.column(dataset.unit.id);
  if (column == nullptr || !column->derived) return;
  faults.add(marks.unit, "unit.id: " + quoted_excerpt(column->name) + " is derived from " +
                             quoted_excerpt(column->derived->from) +
                             ", and many units may have one label; name a column of the source");
}

/// The rows of one unit may lie in any number of blocks, and each block has a budget to lose.
void check_blocks(const Dataset& dataset, const SectionMarks& marks, Faults& faults) {
  if (!dataset.blocks) return;
  const Mark& mark = dataset.blocks->mark;
  if (!dataset.lifetime) {
    faults.add(
        mark,
        "blocks: a unit with rows in several blocks may lose the budget of each; add lifetime: {epsilon: "
        "E}, which bounds what it loses in all");
  }
  if (dataset.renews) {
    faults.add(marks.renew,
               "budget.renew: blocks renew by new data, not by the calendar; remove renew, or remove blocks");
  }
  if (!dataset.has_source()) {
    faults.add(mark,
               "blocks: without a source there are no rows to assign to blocks; add a source, or remove "
               "blocks");
    return;
  }
  if (dataset.rows.exact) {
    faults.add(marks.rows,
               "rows: under blocks, rows outside the declared range are left out, so their number is not "
               "public; write {max: N}");
  }
}

void check_renewal(const Dataset& dataset, const SectionMarks& marks, Faults& faults) {
  const std::optional<Mark>& accepted = marks.accepts_unbounded_lifetime;
  if (!dataset.renews) {
    if (accepted) {
      faults.add(*accepted,
                 "budget.accept_unbounded_lifetime: only a budget with renew is unbounded; remove it");
    }
    return;
  }
  if (dataset.blocks) return;
  if (dataset.lifetime && dataset.accepts_unbounded_lifetime) {
    faults.add(*accepted,
               "budget.accept_unbounded_lifetime: lifetime bounds the loss already; remove one of the two");
  }
  if (!dataset.lifetime && !dataset.accepts_unbounded_lifetime) {
    faults.add(marks.renew, "budget.renew: the same people may lose the budget again in every " +
                                std::string(name(*dataset.renews)) +
                                "; add lifetime: {epsilon: E}, or accept_unbounded_lifetime: true");
  }
}

/// What an asker was charged is summed by accounts that every request is charged to.
void check_window(const Dataset& dataset, Faults& faults) {
  if (!dataset.approvals || !dataset.approvals->above || dataset.approvals->within_seconds == 0) return;
  for (const MeasureLimit& limit : measure_limits(*dataset.approvals->above)) {
    if (scope_of_all(dataset, limit.measure)) continue;
    faults.add(dataset.approvals->mark, "approvals.above.within: sums what an asker was charged in " +
                                            limit.measure.text() + ", which neither lifetime nor " +
                                            (dataset.blocks ? "one budget for all blocks" : "budget") +
                                            " counts; take another measure under above, or leave within out");
  }
}

}  // namespace

void check_rules(const Dataset& dataset, const SectionMarks& marks, Faults& faults) {
  check_exact_rows(dataset, marks, faults);
  check_values_can_occur(dataset, faults);
  check_unit_id(dataset, marks, faults);
  check_blocks(dataset, marks, faults);
  check_renewal(dataset, marks, faults);
  check_window(dataset, faults);
}

}  // namespace epsilog::engine
