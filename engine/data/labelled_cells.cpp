#include "labelled_cells.hpp"

#include <algorithm>

#include "calendar.hpp"
#include "column_cell.hpp"
#include "column_reader.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using Operator = Comparison::Operator;

const Column& source_of(const Dataset& dataset, const Column& column) {
  EPSILOG_INVARIANT(column.derived.has_value());
  const Column* source = dataset.column(column.derived->from);
  EPSILOG_INVARIANT(source != nullptr);
  return *source;
}

Cell cell_of(Int128 fixed, double real = 0, std::string_view text = {}) {
  Cell cell;
  cell.missing = false;
  cell.fixed = fixed;
  cell.real = real;
  cell.text = text;
  return cell;
}

/// The first cell of every stretch with one label, and of those without one; of texts all that are mapped.
std::vector<Cell> beginnings(const LabelRule& rule, const Column& source) {
  std::vector<Cell> result;
  for (const Rational& edge : rule.bins) {
    result.push_back(source.type == ColumnType::real ? cell_of(0, round_real(edge).up)
                                                     : cell_of(round_fixed(edge, source.scale).up));
  }
  if (rule.per) {
    for (std::int64_t day = rule.first_day; day <= rule.last_day; day = period_of(*rule.per, day).last + 1) {
      result.push_back(cell_of(day));
    }
    result.push_back(cell_of(rule.last_day + 1));
  }
  const CellReader reader(source.type, source.scale, CellDialect{});
  for (const auto& [value, label] : rule.map) {
    result.push_back(reader.read(RawCell{value, false}));
    if (source.type != ColumnType::string) result.push_back(cell_of(result.back().fixed + 1));
  }
  return result;
}

/// A text that is neither mapped nor in the predicate: longer than all of them.
std::string another_text(const LabelRule& rule, const Predicate& predicate) {
  std::size_t longest = 0;
  for (const auto& [value, label] : rule.map) longest = std::max(longest, value.size());
  for (const Comparison& comparison : predicate.comparisons()) {
    for (const auto& constant : comparison.constants) {
      if (const auto* text = std::get_if<std::string>(&constant)) longest = std::max(longest, text->size());
    }
  }
  return std::string(longest + 1, 'x');
}

}  // namespace

LabelledCells::LabelledCells(const Dataset& dataset, const Column& column, const Predicate& predicate)
    : column_(column), predicate_(predicate), numbering_(dataset, source_of(dataset, column), predicate) {
  const Column& source = source_of(dataset, column);
  for (std::size_t i = 0; i < column.values.size(); ++i) labels_.emplace(column.values[i], i);
  std::vector<Cell> cells = beginnings(*column.derived, source);
  std::string other;
  if (source.type == ColumnType::string) {
    other = another_text(*column.derived, predicate);
    cells.push_back(cell_of(0, 0, other));
  }
  const CellLabels labels(column, source);
  for (const auto& [number, cell] : numbering_.samples(cells)) {
    const auto label = labels.find(cell);
    if (!label) continue;
    numbers_.push_back(number);
    label_.push_back(*label);
  }
}

std::vector<bool> LabelledCells::satisfying() const {
  const Holds kept = holds(predicate_.condition());
  std::vector<bool> result(column_.values.size(), false);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] != 0) result[label_[i]] = true;
  }
  return result;
}

/// One part after the other, so that few lists are held at a time.
LabelledCells::Holds LabelledCells::holds(const Condition& part) const {
  if (part.kind == Condition::Kind::comparison) return holds(predicate_.comparisons()[part.index]);
  const bool all = part.kind == Condition::Kind::all;
  Holds result(numbers_.size(), all ? 1 : 0);
  for (const Condition& inner : part.parts) {
    const Holds one = holds(inner);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<char>(all ? (result[i] & one[i]) : (result[i] | one[i]));
    }
  }
  return result;
}

LabelledCells::Holds LabelledCells::holds(const Comparison& comparison) const {
  if (comparison.column == column_.name) return holds_of_labels(comparison);
  if (comparison.column == column_.derived->from)
    return numbering_.satisfying(comparison).holds_each(numbers_);
  return Holds(numbers_.size(), 1);
}

LabelledCells::Holds LabelledCells::holds_of_labels(const Comparison& comparison) const {
  const Operator op = comparison.op;
  const bool listed = op == Operator::equal || op == Operator::in;
  std::vector<char> holds(labels_.size(), listed || op == Operator::missing ? 0 : 1);
  for (const auto& constant : comparison.constants) {
    const auto found = labels_.find(std::get<std::string>(constant));
    if (found != labels_.end()) holds[found->second] = listed ? 1 : 0;
  }
  Holds result;
  result.reserve(label_.size());
  for (const std::size_t label : label_) result.push_back(holds[label]);
  return result;
}

}  // namespace epsilog::engine
