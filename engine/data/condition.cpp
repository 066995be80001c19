#include "condition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "column_cell.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/nearest.hpp"

namespace epsilog::engine {
namespace {

using Operator = Comparison::Operator;
using Comparisons = std::vector<const Comparison*>;

bool is_listed(Operator op) {
  return op == Operator::equal || op == Operator::in;
}

/// The cells of a numeric, date or bool column in their order, and how a constant lies among them.
struct FixedCells {
  using Value = Int128;
  Value least;
  Value most;
  unsigned scale;

  [[nodiscard]] FixedPlace place(const Comparison::Constant& constant) const {
    if (const auto* number = std::get_if<Rational>(&constant)) return place_fixed(*number, scale);
    const bool* boolean = std::get_if<bool>(&constant);
    const Value value =
        boolean != nullptr ? Value{*boolean} : Value{std::get<Comparison::Date>(constant).days};
    return {value, value};
  }
  [[nodiscard]] static Value next(Value value) { return value + 1; }
  [[nodiscard]] static Value before(Value value) { return value - 1; }
};

struct RealCells {
  using Value = double;
  Value least = std::numeric_limits<double>::lowest();
  Value most = std::numeric_limits<double>::max();

  [[nodiscard]] static RealPlace place(const Comparison::Constant& constant) {
    return place_real(std::get<Rational>(constant));
  }
  [[nodiscard]] static Value next(Value value) {
    return std::nextafter(value, std::numeric_limits<double>::infinity());
  }
  [[nodiscard]] static Value before(Value value) {
    return std::nextafter(value, -std::numeric_limits<double>::infinity());
  }
};

/// Whether some cell satisfies all comparisons: of those in range the first that is not excluded, or one of
/// those that every list has.
template <class Cells>
bool some_cell(const Cells& cells, const Comparisons& comparisons) {
  using Value = typename Cells::Value;
  Value first = cells.least;
  Value last = cells.most;
  std::set<Value> excluded;
  std::optional<std::set<Value>> listed;
  for (const Comparison* comparison : comparisons) {
    const auto place = cells.place(comparison->constants.front());
    switch (comparison->op) {
      case Operator::less:
        last = std::min(last, Cells::before(place.up));
        break;
      case Operator::less_equal:
        last = std::min(last, place.down);
        break;
      case Operator::greater:
        first = std::max(first, Cells::next(place.down));
        break;
      case Operator::greater_equal:
        first = std::max(first, place.up);
        break;
      case Operator::not_equal:
        if (place.up == place.down) excluded.insert(place.up);
        break;
      case Operator::equal:
      case Operator::in: {
        std::set<Value> these;
        for (const auto& constant : comparison->constants) {
          const auto one = cells.place(constant);
          if (one.up == one.down && (!listed || listed->contains(one.up))) these.insert(one.up);
        }
        listed = std::move(these);
        break;
      }
    }
  }
  const auto satisfies = [&](Value value) {
    return first <= value && value <= last && !excluded.contains(value);
  };
  if (listed) return std::any_of(listed->begin(), listed->end(), satisfies);
  while (first <= last && excluded.contains(first)) first = Cells::next(first);
  return first <= last;
}

/// Of infinitely many texts only a list leaves none. An empty cell, and in a CSV file what `null` lists, is
/// missing, and satisfies nothing.
bool some_text(const Dataset& dataset, const Comparisons& comparisons) {
  const auto missing = [&dataset](const std::string& text) {
    return text.empty() || (dataset.csv && std::find(dataset.csv->null.begin(), dataset.csv->null.end(),
                                                     text) != dataset.csv->null.end());
  };
  std::set<std::string> excluded;
  std::optional<std::set<std::string>> listed;
  for (const Comparison* comparison : comparisons) {
    if (!is_listed(comparison->op)) {
      excluded.insert(std::get<std::string>(comparison->constants.front()));
      continue;
    }
    std::set<std::string> these;
    for (const auto& constant : comparison->constants) {
      const auto& text = std::get<std::string>(constant);
      if (!missing(text) && (!listed || listed->contains(text))) these.insert(text);
    }
    listed = std::move(these);
  }
  if (!listed) return true;
  return std::any_of(listed->begin(), listed->end(),
                     [&excluded](const std::string& text) { return !excluded.contains(text); });
}

/// What stands in for a missing cell is compared as it is declared, whatever cells can be.
bool constant_satisfies(const Rational& value, const Comparison& comparison) {
  const auto equals = [&value](const Comparison::Constant& constant) {
    return value == std::get<Rational>(constant);
  };
  const auto& constants = comparison.constants;
  switch (comparison.op) {
    case Operator::equal:
    case Operator::in:
      return std::any_of(constants.begin(), constants.end(), equals);
    case Operator::not_equal:
      return !equals(constants.front());
    case Operator::less:
      return value < std::get<Rational>(constants.front());
    case Operator::less_equal:
      return value <= std::get<Rational>(constants.front());
    case Operator::greater:
      return value > std::get<Rational>(constants.front());
    case Operator::greater_equal:
      return value >= std::get<Rational>(constants.front());
  }
  return true;
}

std::int64_t day(std::string_view text) {
  std::int64_t days = 0;
  EPSILOG_INVARIANT(parse_date(text, days));
  return days;
}

bool satisfiable(const Dataset& dataset, const Column& column, const Comparisons& comparisons) {
  const auto stands_in = [&](const Comparison* comparison) {
    return constant_satisfies(*column.missing, *comparison);
  };
  if (column.missing && std::all_of(comparisons.begin(), comparisons.end(), stands_in)) return true;
  switch (column.type) {
    case ColumnType::integer:
    case ColumnType::decimal:
      return some_cell(FixedCells{-kFixedMax, kFixedMax, column.scale}, comparisons);
    case ColumnType::real:
      return some_cell(RealCells{}, comparisons);
    case ColumnType::boolean:
      return some_cell(FixedCells{0, 1, 0}, comparisons);
    case ColumnType::date:
      return some_cell(FixedCells{day("0000-01-01"), day("9999-12-31"), 0}, comparisons);
    case ColumnType::string:
      return some_text(dataset, comparisons);
  }
  return true;
}

/// Those without any of which the rest could be satisfied. Of very many, all: whoever wrote those reads none.
Comparisons culprits(const Dataset& dataset, const Column& column, Comparisons comparisons) {
  constexpr std::size_t kMost = 64;
  if (comparisons.size() > kMost) return comparisons;
  for (std::size_t i = comparisons.size(); i-- > 0;) {
    Comparisons rest = comparisons;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (!rest.empty() && !satisfiable(dataset, column, rest)) comparisons = std::move(rest);
  }
  return comparisons;
}

/// A constant may have hundreds of digits, a list hundreds of constants.
std::string shortened(const std::string& text) {
  constexpr std::size_t kShown = 120;
  if (text.size() <= kShown) return text;
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

[[noreturn]] void refuse(const Dataset& dataset, const Column& column, const Comparisons& all) {
  const Comparisons together = culprits(dataset, column, all);
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(together.size(), kNamed); ++i) {
    text += (i == 0 ? "" : " and ") + shortened(together[i]->text());
  }
  if (together.size() > kNamed) text += " and " + std::to_string(together.size() - kNamed) + " more";
  const std::string type(name(column.type));
  // Most decimal fractions have no nearest binary number that equals them.
  const bool rounded = column.type == ColumnType::real;
  throw InvalidParameter(
      "where: no row satisfies " + text + ", whatever is in the data: " +
      (together.size() == 1
           ? "no cell of column '" + column.name + "', of type " + type + ", is read so" +
                 (rounded ? ": its cells are binary numbers; `decimal` columns are exact" : "")
           : "the comparisons with column '" + column.name + "' contradict each other"));
}

/// As a condition writes it.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char one, char other) { return lower(one) == lower(other); });
}

/// Which value is meant, or which there are.
std::string meant(const std::string& text, const Column& column) {
  const auto& values = column.values;
  const auto same = std::find_if(values.begin(), values.end(),
                                 [&](const std::string& value) { return same_but_for_case(value, text); });
  const std::string near = same != values.end() ? *same : nearest(text, values);
  if (!near.empty()) return "did you mean " + quoted(near) + "?";
  constexpr std::size_t kListed = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(values.size(), kListed); ++i) {
    list += (i == 0 ? "" : ", ") + quoted(values[i]);
  }
  return "they are " + list + (values.size() > kListed ? ", …" : "");
}

void require_declared_texts(const Column& column, const Comparisons& comparisons) {
  if (column.type != ColumnType::string || column.values.empty()) return;
  const std::set<std::string_view> declared(column.values.begin(), column.values.end());
  for (const Comparison* comparison : comparisons) {
    for (const auto& constant : comparison->constants) {
      const auto& text = std::get<std::string>(constant);
      if (declared.contains(text)) continue;
      throw InvalidParameter("where: " + quoted(text) + " is not among the values of column '" + column.name +
                             "' (" + meant(text, column) + ")");
    }
  }
}

}  // namespace

void require_satisfiable(const Dataset& dataset, const Question& question) {
  if (!question.where) return;
  const accounting::DefaultFloatingPoint floating_point;  // subnormal numbers are cells too
  std::map<std::string_view, Comparisons> by_column;
  for (const Comparison& comparison : question.where->comparisons()) {
    by_column[comparison.column].push_back(&comparison);
  }
  for (const Comparison& comparison : question.where->comparisons()) {
    const Column* column = dataset.column(comparison.column);
    EPSILOG_INVARIANT(column != nullptr);
    const auto found = by_column.find(comparison.column);
    if (found == by_column.end()) continue;  // looked at with an earlier comparison
    require_declared_texts(*column, found->second);
    if (!satisfiable(dataset, *column, found->second)) refuse(dataset, *column, found->second);
    by_column.erase(found);
  }
}

}  // namespace epsilog::engine
