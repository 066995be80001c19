#include "cells_text.hpp"

#include <algorithm>

#include "answer_facts.hpp"
#include "printable.hpp"
#include "released_text.hpp"
#include "table_output.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;

constexpr unsigned kBarWidth = 24;

/// Whether a cell is drawn as a bar: not if it is no length, not shown, or may be anything. A quantile is
/// drawn, since its rank may be near.
bool has_bar(const engine::Answer& answer, std::size_t i) {
  const std::vector<engine::CellIntervals>& intervals = answer.released.intervals;
  const bool anything = !intervals.empty() && !wire::asks_quantiles(answer) &&
                        intervals[0].is_whole_range(i, intervals[0].each.at(i));
  return !anything && answer.released.values[i] > 0 && !engine::is_suppressed(answer, i) &&
         !wire::asks_days(answer);
}

/// 0 without any.
Rational longest_bar(const engine::Answer& answer) {
  Rational most = 0;
  for (std::size_t i = 0; i < answer.released.values.size(); ++i) {
    if (has_bar(answer, i)) most = std::max(most, answer.released.values[i]);
  }
  return most;
}

/// Several quantiles are no column: their keys stand under none.
std::vector<std::string> grouping_headings(const engine::Answer& answer) {
  std::vector<std::string> headings = answer.asked.by;
  headings.resize(answer.planned.record.cells.lists().size());
  return headings;
}

/// Those of the second of two columns, and the grand total.
std::vector<std::string> row_of_totals(const engine::Answer& answer, const Style& style) {
  std::vector<std::string> row{key_text(std::nullopt)};
  const auto margins = answer.planned.record.cells.margins();
  for (std::size_t i = margins.all()[2].first; i < margins.cells(); ++i)
    row.push_back(released_text(answer, i, style));
  return row;
}

/// By two columns, or by one and several quantiles: a row for each key of the first and a column for each of
/// the second.
std::string two_way_text(const engine::Answer& answer, const Style& style) {
  const auto& lists = answer.planned.record.cells.lists();
  std::vector<Table::Heading> columns{{engine::by_text(answer.asked.by)}};
  for (const std::string& key : lists[1]) columns.push_back({printable(key), Table::Align::right});
  const bool totals = answer.planned.record.cells.has_totals();
  if (totals) columns.push_back({key_text(std::nullopt), Table::Align::right});
  Table table(columns);
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    std::vector<std::string> row{lists[0][i]};
    for (std::size_t j = 0; j < lists[1].size(); ++j)
      row.push_back(released_text(answer, i * lists[1].size() + j, style));
    if (totals) row.push_back(released_text(answer, lists[0].size() * lists[1].size() + i, style));
    table.add(std::move(row));
  }
  if (totals) table.add(row_of_totals(answer, style));
  return table.text(style);
}

bool fits(const std::string& text, const Style& style) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (display_width(rest.substr(0, end)) > style.width) return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

std::string cells_text(const engine::Answer& answer, const std::string& heading, const Style& style,
                       unsigned bar_width) {
  const Rational most = longest_bar(answer);
  const std::vector<engine::CellIntervals>& intervals = answer.released.intervals;
  std::vector<Table::Heading> columns;
  for (std::string& name : grouping_headings(answer)) columns.push_back({std::move(name)});
  columns.push_back({heading, Table::Align::right});
  for (const engine::CellIntervals& one : intervals) columns.push_back({confidence_text(one.alpha)});
  for (const engine::CellIntervals& one : intervals) {
    if (style.verbose) columns.push_back({"all, " + confidence_text(one.alpha)});
  }
  columns.push_back({""});
  Table table(columns);
  for (std::size_t i = 0; i < answer.released.values.size(); ++i) {
    std::vector<std::string> row;
    for (const auto& key : answer.planned.record.cells.keys_of(i)) row.push_back(key_text(key));
    row.push_back(released_text(answer, i, style));
    for (const engine::CellIntervals& one : intervals)
      row.push_back(interval_or_whole_range(answer, i, one, one.each.at(i), style));
    for (const engine::CellIntervals& one : intervals) {
      if (style.verbose) row.push_back(interval_or_whole_range(answer, i, one, one.together.at(i), style));
    }
    row.push_back(has_bar(answer, i) ? bar(answer.released.values[i], most, bar_width, style) : "");
    table.add(std::move(row));
  }
  return table.text(style);
}

}  // namespace

bool is_two_way(const engine::Answer& answer, const Style& style) {
  // What the interval of a quotient is differs from cell to cell, and stands beside it.
  const bool quotient = accounting::is_quotient(answer.planned.post_processing);
  const ledger::CellKeys& keys = answer.planned.record.cells;
  const bool whole = keys.lists().size() == 2 && keys.size() == answer.released.values.size();
  if (!whole || quotient || style.verbose) return false;
  Style plain = style;
  plain.colour = false;
  return fits(two_way_text(answer, plain), style);
}

std::string cells_text(const engine::Answer& answer, const std::string& heading, const Style& style) {
  const std::string cells =
      is_two_way(answer, style)
          ? two_way_text(answer, style)
          : with_bars(
                [&](unsigned width, const Style& how) { return cells_text(answer, heading, how, width); },
                kBarWidth, style);
  if (!answer.asked.consistent || adds_up_as_shown(answer, style)) return cells;
  return cells + "  does not add up as shown: each number is rounded by itself\n";
}

}  // namespace epsilog::command
