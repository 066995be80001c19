#include "row_filter.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using Operator = Comparison::Operator;

bool is_listed(Operator op) {
  return op == Operator::equal || op == Operator::in || op == Operator::not_in;
}

/// Readies a list of constants for a search: no cell equals one that lies between two cells.
template <class Rounding>
void make_searchable(Operator op, std::vector<Rounding>& places) {
  if (!is_listed(op)) return;
  std::erase_if(places, [](const Rounding& place) { return place.up != place.down; });
  std::sort(places.begin(), places.end(), [](const Rounding& a, const Rounding& b) { return a.up < b.up; });
}

/// Compares a cell with a constant that lies in [down, up], two adjacent cells or twice the same.
template <class Value, class Rounding>
bool compares(Operator op, const Value& value, const std::vector<Rounding>& places) {
  switch (op) {
    case Operator::equal:
    case Operator::in:
    case Operator::not_in: {
      const auto found =
          std::lower_bound(places.begin(), places.end(), value,
                           [](const Rounding& place, const Value& cell) { return place.up < cell; });
      const bool listed = found != places.end() && found->up == value;
      return listed != (op == Operator::not_in);
    }
    case Operator::not_equal:
      return places.front().up != places.front().down || value != places.front().up;
    case Operator::less:
      return value < places.front().up;
    case Operator::less_equal:
      return value <= places.front().down;
    case Operator::greater:
      return value > places.front().down;
    case Operator::greater_equal:
      return value >= places.front().up;
    case Operator::missing:
      return false;
    case Operator::not_missing:
      return true;
  }
  return false;
}

bool compares_text(Operator op, std::string_view value, const std::vector<std::string>& texts) {
  if (op == Operator::missing || op == Operator::not_missing) return op == Operator::not_missing;
  const bool found = std::binary_search(texts.begin(), texts.end(), value);
  return op == Operator::not_equal || op == Operator::not_in ? !found : found;
}

bool compares_exactly(Operator op, const Rational& value,
                      const std::vector<Comparison::Constant>& constants) {
  struct Rounding {
    Rational up;
    Rational down;
  };
  std::vector<Rounding> places;
  for (const auto& constant : constants) {
    const auto& number = std::get<Rational>(constant);
    places.push_back({number, number});
  }
  make_searchable(op, places);
  return compares(op, value, places);
}

FixedRounding fixed_rounding(const Comparison::Constant& constant, unsigned scale) {
  if (const auto* number = std::get_if<Rational>(&constant)) return round_fixed(*number, scale);
  const bool* boolean = std::get_if<bool>(&constant);
  const Int128 value =
      boolean != nullptr ? Int128{*boolean} : Int128{std::get<Comparison::Date>(constant).days};
  return {value, value};
}

}  // namespace

RowFilter::RowFilter(const Dataset& dataset, const Predicate& predicate,
                     const std::vector<std::string>& wanted, const CellDialect& dialect) {
  for (const Comparison& comparison : predicate.comparisons()) {
    const Column* column = dataset.column(comparison.column);
    const auto found = std::find(wanted.begin(), wanted.end(), dataset.read_from(comparison.column));
    EPSILOG_INVARIANT(column != nullptr && found != wanted.end());
    Test test{static_cast<std::size_t>(found - wanted.begin()),
              ColumnReader(dataset, *column, dialect),
              column->type,
              comparison.op,
              {},
              {},
              {},
              holds_for_missing(*column, comparison)};
    for (const auto& constant : comparison.constants) {
      if (column->type == ColumnType::string) {
        test.texts.push_back(std::get<std::string>(constant));
      } else if (column->type == ColumnType::real) {
        test.real.push_back(round_real(std::get<Rational>(constant)));
      } else {
        test.fixed.push_back(fixed_rounding(constant, column->scale));
      }
    }
    make_searchable(test.op, test.fixed);
    make_searchable(test.op, test.real);
    std::sort(test.texts.begin(), test.texts.end());
    tests_.push_back(std::move(test));
  }
  link(predicate.condition(), kKeep, kDrop);
}

/// Where the tests of a part lead once it is decided: each part of an `and` to the next one while it holds,
/// each of an `or` while it does not.
void RowFilter::link(const Condition& part, std::size_t if_true, std::size_t if_false) {
  if (part.kind == Condition::Kind::comparison) {
    tests_[part.index].if_true = if_true;
    tests_[part.index].if_false = if_false;
    return;
  }
  for (std::size_t i = 0; i < part.parts.size(); ++i) {
    const Condition* next = i + 1 < part.parts.size() ? &part.parts[i + 1] : nullptr;
    while (next != nullptr && !next->parts.empty()) next = &next->parts.front();
    if (part.kind == Condition::Kind::all) {
      link(part.parts[i], next != nullptr ? next->index : if_true, if_false);
    } else {
      link(part.parts[i], if_true, next != nullptr ? next->index : if_false);
    }
  }
}

bool RowFilter::keeps(std::span<const RawCell> cells) const {
  return keeps_read([&](std::size_t i) { return tests_[i].reader.read(cells[tests_[i].cell]); });
}

bool RowFilter::holds(const Test& test, const Cell& cell) {
  if (cell.missing) return test.when_missing;
  if (test.type == ColumnType::string) return compares_text(test.op, cell.text, test.texts);
  if (test.type == ColumnType::real) return compares(test.op, cell.real, test.real);
  return compares(test.op, cell.fixed, test.fixed);
}

bool holds_for_missing(const Column& column, const Comparison& comparison) {
  if (comparison.op == Operator::missing) return !column.missing;
  return column.missing && compares_exactly(comparison.op, *column.missing, comparison.constants);
}

}  // namespace epsilog::engine
