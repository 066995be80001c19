#include "row_filter.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using Operator = Comparison::Operator;

bool is_listed(Operator op) {
  return op == Operator::equal || op == Operator::in;
}

/// Readies a list of constants for a search: no cell equals one that lies between two cells.
template <class Place>
void make_searchable(Operator op, std::vector<Place>& places) {
  if (!is_listed(op)) return;
  std::erase_if(places, [](const Place& place) { return place.up != place.down; });
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.up < b.up; });
}

/// Compares a cell with a constant that lies in [down, up], two adjacent cells or twice the same.
template <class Value, class Place>
bool compares(Operator op, const Value& value, const std::vector<Place>& places) {
  switch (op) {
    case Operator::equal:
    case Operator::in: {
      const auto found =
          std::lower_bound(places.begin(), places.end(), value,
                           [](const Place& place, const Value& cell) { return place.up < cell; });
      return found != places.end() && found->up == value;
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
  }
  return false;
}

bool compares_text(Operator op, std::string_view value, const std::vector<std::string>& texts) {
  const bool found = std::binary_search(texts.begin(), texts.end(), value);
  return op == Operator::not_equal ? !found : found;
}

bool compares_exactly(Operator op, const Rational& value,
                      const std::vector<Comparison::Constant>& constants) {
  struct Place {
    Rational up;
    Rational down;
  };
  std::vector<Place> places;
  for (const auto& constant : constants) {
    const auto& number = std::get<Rational>(constant);
    places.push_back({number, number});
  }
  make_searchable(op, places);
  return compares(op, value, places);
}

FixedPlace fixed_place(const Comparison::Constant& constant, unsigned scale) {
  if (const auto* number = std::get_if<Rational>(&constant)) return place_fixed(*number, scale);
  const bool* boolean = std::get_if<bool>(&constant);
  const Int128 value =
      boolean != nullptr ? Int128{*boolean} : Int128{std::get<Comparison::Date>(constant).days};
  return {value, value};
}

}  // namespace

RowFilter::RowFilter(const Dataset& dataset, std::span<const Comparison> comparisons,
                     const std::vector<std::string>& wanted, const CellDialect& dialect) {
  for (const Comparison& comparison : comparisons) {
    const Column* column = dataset.column(comparison.column);
    const auto found = std::find(wanted.begin(), wanted.end(), comparison.column);
    EPSILOG_INVARIANT(column != nullptr && found != wanted.end());
    Test test{static_cast<std::size_t>(found - wanted.begin()),
              CellReader(column->type, column->scale, dialect),
              column->type,
              comparison.op,
              {},
              {},
              {},
              column->missing && compares_exactly(comparison.op, *column->missing, comparison.constants)};
    for (const auto& constant : comparison.constants) {
      if (column->type == ColumnType::string) {
        test.texts.push_back(std::get<std::string>(constant));
      } else if (column->type == ColumnType::real) {
        test.real.push_back(place_real(std::get<Rational>(constant)));
      } else {
        test.fixed.push_back(fixed_place(constant, column->scale));
      }
    }
    make_searchable(test.op, test.fixed);
    make_searchable(test.op, test.real);
    std::sort(test.texts.begin(), test.texts.end());
    tests_.push_back(std::move(test));
  }
}

bool RowFilter::keeps(std::span<const RawCell> cells) const {
  return std::all_of(tests_.begin(), tests_.end(),
                     [&](const Test& test) { return holds(test, cells[test.cell]); });
}

bool RowFilter::holds(const Test& test, const RawCell& raw) {
  const Cell cell = test.reader.read(raw);
  if (cell.missing) return test.when_missing;
  if (test.type == ColumnType::string) return compares_text(test.op, cell.text, test.texts);
  if (test.type == ColumnType::real) return compares(test.op, cell.real, test.real);
  return compares(test.op, cell.fixed, test.fixed);
}

}  // namespace epsilog::engine
