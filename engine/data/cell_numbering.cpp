#include "cell_numbering.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "column_cell.hpp"
#include "column_reader.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "row_filter.hpp"

namespace epsilog::engine {
namespace {

using Operator = Comparison::Operator;

/// The binary64 numbers in their order: -0 is 0, and an infinity stands behind the last one.
Int128 number_of(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits >= 0 ? Int128{bits} : Int128{std::numeric_limits<std::int64_t>::min()} - bits;
}

/// The number that has this place among them.
/// Requires  there is one.
double real_of_number(Int128 number) {
  const Int128 bits = number >= 0 ? number : Int128{std::numeric_limits<std::int64_t>::min()} - number;
  return std::bit_cast<double>(static_cast<std::int64_t>(bits));
}

Int128 day(std::string_view text) {
  std::int64_t days = 0;
  EPSILOG_INVARIANT(parse_date(text, days));
  return days;
}

bool stands_for_missing(const Dataset& dataset, std::string_view text) {
  return text.empty() || (dataset.csv && std::find(dataset.csv->null.begin(), dataset.csv->null.end(),
                                                   text) != dataset.csv->null.end());
}

}  // namespace

CellNumbering::CellNumbering(const Dataset& dataset, const Column& column, const Predicate& predicate)
    : column_(column), predicate_(predicate) {
  std::vector<Int128> no_cells;
  switch (column.type) {
    case ColumnType::integer:
    case ColumnType::decimal:
      least_ = -kFixedMax;
      most_ = kFixedMax;
      break;
    case ColumnType::real:
      least_ = number_of(std::numeric_limits<double>::lowest());
      most_ = number_of(std::numeric_limits<double>::max());
      break;
    case ColumnType::boolean:
      most_ = 1;
      break;
    case ColumnType::date:
      least_ = day("0000-01-01");
      most_ = day("9999-12-31");
      break;
    case ColumnType::string:
      for (const Comparison& comparison : predicate.comparisons()) {
        if (comparison.column != column.name) continue;
        for (const auto& constant : comparison.constants) {
          const auto& text = std::get<std::string>(constant);
          const auto [found, is_new] = texts_.emplace(text, static_cast<Int128>(texts_.size()));
          if (is_new && !column.derived && stands_for_missing(dataset, text))
            no_cells.push_back(found->second);
        }
      }
      most_ = static_cast<Int128>(texts_.size());  // all others: there is always one more
      if (column.derived) no_cells = no_labels(dataset);
      break;
  }
  cells_ = ValueSet::of(no_cells).missing_from(least_, most_);
}

std::vector<Int128> CellNumbering::no_labels(const Dataset& dataset) {
  const Column* source = dataset.column(column_.derived->from);
  EPSILOG_INVARIANT(source != nullptr);
  const CellLabels labels(column_, *source);
  can_be_missing_ = labels.has_unlabelled_cell();
  const std::vector<bool> had = labels.reachable_labels();
  std::map<std::string_view, Int128> unseen = texts_;
  bool others = false;
  for (std::size_t i = 0; i < had.size(); ++i) {
    if (!had[i]) continue;
    others = others || !texts_.contains(labels.labels()[i]);
    unseen.erase(labels.labels()[i]);
  }
  std::vector<Int128> result;
  for (const auto& [text, number] : unseen) result.push_back(number);
  if (!others) result.push_back(most_);
  return result;
}

CellNumbering::NumberBracket CellNumbering::numbers_around(const Comparison::Constant& constant) const {
  if (const auto* text = std::get_if<std::string>(&constant)) return {texts_.at(*text), texts_.at(*text)};
  if (const auto* boolean = std::get_if<bool>(&constant)) return {*boolean ? 1 : 0, *boolean ? 1 : 0};
  if (const auto* date = std::get_if<Comparison::Date>(&constant)) return {date->days, date->days};
  const auto& number = std::get<Rational>(constant);
  if (column_.type == ColumnType::real) {
    const RealRounding real = round_real(number);
    return {number_of(real.up), number_of(real.down)};
  }
  const FixedRounding fixed = round_fixed(number, column_.scale);
  return {fixed.up, fixed.down};
}

ValueSet CellNumbering::left_by(const Comparison& comparison) const {
  const auto listed = [&] {
    std::vector<Int128> values;
    for (const auto& constant : comparison.constants) {
      const NumberBracket one = numbers_around(constant);
      if (one.up == one.down) values.push_back(one.up);  // else it lies between two cells
    }
    return ValueSet::of(values);
  };
  switch (comparison.op) {
    case Operator::equal:
    case Operator::in:
      return listed();
    case Operator::not_equal:
    case Operator::not_in:
      return listed().missing_from(least_, most_);
    case Operator::less:
      return {least_, numbers_around(comparison.constants.front()).up - 1};
    case Operator::less_equal:
      return {least_, numbers_around(comparison.constants.front()).down};
    case Operator::greater:
      return {numbers_around(comparison.constants.front()).down + 1, most_};
    case Operator::greater_equal:
      return {numbers_around(comparison.constants.front()).up, most_};
    case Operator::missing:
      return {};
    case Operator::not_missing:
      return {least_, most_};
  }
  EPSILOG_INVARIANT(false);
  return {};
}

ValueSet CellNumbering::satisfying(const Comparison& comparison) const {
  const std::vector<ValueSet> both{cells_, left_by(comparison)};
  ValueSet cells = ValueSet::in_at_least(2, both);
  if (!can_be_missing_ || !holds_for_missing(column_, comparison)) return cells;
  const Int128 number_of_missing = most_ + 2;
  const std::vector<ValueSet> either{std::move(cells), ValueSet(number_of_missing, number_of_missing)};
  return ValueSet::in_at_least(1, either);
}

ValueSet CellNumbering::satisfying(const Condition& part) const {
  if (part.kind == Condition::Kind::comparison) return satisfying(predicate_.comparisons()[part.index]);
  std::vector<ValueSet> sets;
  for (const Condition& inner : part.parts) sets.push_back(satisfying(inner));
  return ValueSet::in_at_least(part.kind == Condition::Kind::all ? sets.size() : 1, sets);
}

ValueSet CellNumbering::satisfying_all() const {
  return satisfying(predicate_.condition());
}

Int128 CellNumbering::number(const Cell& cell) const {
  if (column_.type == ColumnType::real) return number_of(cell.real);
  if (column_.type != ColumnType::string) return cell.fixed;
  const auto found = texts_.find(cell.text);
  return found == texts_.end() ? most_ : found->second;
}

std::vector<Int128> CellNumbering::breakpoints() const {
  std::vector<Int128> result;
  for (const Comparison& comparison : predicate_.comparisons()) {
    if (comparison.column != column_.name) continue;
    for (const auto& constant : comparison.constants) {
      const NumberBracket one = numbers_around(constant);
      result.insert(result.end(), {one.up, one.down, one.down + 1});
    }
  }
  return result;
}

std::vector<CellNumbering::NumberedCell> CellNumbering::samples(const std::vector<Cell>& more) const {
  std::vector<NumberedCell> result;
  const auto add = [&](Int128 number, const Cell& cell) {
    if (cells_.meets(number, number)) result.push_back({number, cell});
  };
  Cell cell;
  cell.missing = false;
  if (column_.type == ColumnType::string) {
    for (const auto& [text, place] : texts_) {
      cell.text = text;
      add(place, cell);
    }
    for (const Cell& other : more) {
      if (number(other) == most_) add(most_, other);
    }
  } else {
    std::vector<Int128> numbers = breakpoints();
    numbers.push_back(least_);
    for (const Cell& other : more) numbers.push_back(number(other));
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const Int128 one : numbers) {
      if (one < least_ || one > most_) continue;
      if (column_.type == ColumnType::real) cell.real = real_of_number(one);
      cell.fixed = one;
      add(one, cell);
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const NumberedCell& a, const NumberedCell& b) { return a.number < b.number; });
  result.push_back({most_ + 2, Cell{}});
  return result;
}

}  // namespace epsilog::engine
