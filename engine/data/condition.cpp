#include "condition.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cell_numbering.hpp"
#include "column_reader.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/engine/nearest.hpp"

namespace epsilog::engine {
namespace {

using Kind = Condition::Kind;

/// A constant may have hundreds of digits, a list hundreds of constants.
std::string shortened(const std::string& text) {
  constexpr std::size_t kShown = 120;
  if (text.size() <= kShown) return text;
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
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

void require_declared_text(const Column& column, const Comparison& comparison,
                           const std::set<std::string_view>& declared) {
  for (const auto& constant : comparison.constants) {
    const auto& text = std::get<std::string>(constant);
    if (declared.contains(text)) continue;
    throw InvalidParameter("where: " + quoted(text) + " is not among the values of column '" + column.name +
                           "' (" + meant(text, column) + ")");
  }
}

/// What a part of a condition leaves of the cells of each column that it narrows. Where an `or` has a part
/// that says nothing of a column, it narrows it not at all.
struct NarrowedColumns {
  bool nothing = false;  ///< no row satisfies the part
  std::map<std::string_view, ValueSet> columns;
};

class Satisfiable {
 public:
  Satisfiable(const Dataset& dataset, const Predicate& predicate) : dataset_(dataset), predicate_(predicate) {
    for (const Comparison& comparison : predicate.comparisons()) {
      const Column* column = dataset.column(comparison.column);
      EPSILOG_INVARIANT(column != nullptr);
      columns_.try_emplace(comparison.column, dataset, *column, predicate);
    }
  }

  void require() const {
    if (narrowed_by(predicate_.condition()).nothing) refuse(predicate_.condition());
  }

 private:
  [[nodiscard]] const Comparison& comparison(const Condition& part) const {
    return predicate_.comparisons()[part.index];
  }

  [[nodiscard]] NarrowedColumns narrowed_by(const Condition& part) const {
    NarrowedColumns result;
    if (part.kind == Kind::comparison) {
      const std::string& column = comparison(part).column;
      ValueSet cells = columns_.at(column).satisfying(comparison(part));
      result.nothing = cells.empty();
      result.columns.emplace(column, std::move(cells));
      return result;
    }
    const bool all = part.kind == Kind::all;
    std::map<std::string_view, std::vector<ValueSet>> sets;
    std::size_t live = 0;
    for (const Condition& inner : part.parts) {
      NarrowedColumns left = narrowed_by(inner);
      if (left.nothing && !all) continue;
      if (left.nothing) result.nothing = true;
      ++live;
      for (auto& [column, cells] : left.columns) sets[column].push_back(std::move(cells));
    }
    if (live == 0) result.nothing = true;
    for (const auto& [column, cells] : sets) {
      if (!all && cells.size() < live) continue;
      ValueSet both = ValueSet::in_at_least(all ? cells.size() : 1, cells);
      if (all && both.empty()) result.nothing = true;
      result.columns.emplace(column, std::move(both));
    }
    return result;
  }

  /// Requires  nothing satisfies the part.
  [[noreturn]] void refuse(const Condition& part, const std::string& beside = "") const {
    if (part.kind == Kind::comparison) refuse_parts({&part}, comparison(part).column, beside);
    if (part.kind == Kind::any) {
      refuse(part.parts.front(), "; nor does any satisfy what stands beside it after 'or'");
    }
    std::vector<std::string_view> seen;
    std::vector<std::pair<const Condition*, NarrowedColumns>> lefts;
    for (const Condition& inner : part.parts) lefts.emplace_back(&inner, narrowed_by(inner));
    for (const auto& [inner, left] : lefts) {
      if (left.nothing && inner->kind == Kind::any) refuse(*inner, beside);
      for (const auto& [column, cells] : left.columns) {
        if (std::find(seen.begin(), seen.end(), column) != seen.end()) continue;
        seen.push_back(column);
        Parts parts;
        for (const auto& [other, of_other] : lefts) {
          const auto found = of_other.columns.find(column);
          if (found != of_other.columns.end()) parts.emplace_back(other, found->second);
        }
        if (common(parts).empty()) refuse_parts(culprits(std::move(parts)), column, beside);
      }
    }
    EPSILOG_INVARIANT(false);
  }

  using Parts = std::vector<std::pair<const Condition*, ValueSet>>;

  static ValueSet common(const Parts& parts) {
    std::vector<ValueSet> sets;
    for (const auto& [part, cells] : parts) sets.push_back(cells);
    return ValueSet::in_at_least(sets.size(), sets);
  }

  /// Those without any of which the rest could be satisfied. Of very many, all: whoever wrote those reads
  /// none.
  static std::vector<const Condition*> culprits(Parts parts) {
    constexpr std::size_t kMost = 64;
    for (std::size_t i = parts.size() <= kMost ? parts.size() : 0; i-- > 0;) {
      Parts rest = parts;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (!rest.empty() && common(rest).empty()) parts = std::move(rest);
    }
    std::vector<const Condition*> result;
    for (const auto& [part, cells] : parts) result.push_back(part);
    return result;
  }

  [[noreturn]] void refuse_parts(const std::vector<const Condition*>& together, std::string_view name,
                                 const std::string& beside) const {
    const Column& column = *dataset_.column(std::string(name));
    constexpr std::size_t kNamed = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(together.size(), kNamed); ++i) {
      const std::string one = shortened(predicate_.text(*together[i]));
      text += (i == 0 ? "" : " and ") + (together[i]->kind == Kind::any ? "(" + one + ")" : one);
    }
    if (together.size() > kNamed) text += " and " + std::to_string(together.size() - kNamed) + " more";
    throw InvalidParameter("where: no row satisfies " + text + ", whatever is in the data: " +
                           (together.size() == 1
                                ? why_unreadable(column, comparison(*together.front()))
                                : "the comparisons with column '" + column.name + "' contradict each other") +
                           beside);
  }

  static std::string why_unreadable(const Column& column, const Comparison& comparison) {
    if (column.derived) {
      return comparison.op == Comparison::Operator::missing
                 ? "every cell of column '" + column.name + "' has a label"
                 : "no cell of column '" + column.derived->from + "' has such a label";
    }
    if (comparison.op == Comparison::Operator::missing) {
      return "the policy says what stands for a missing cell of column '" + column.name + "'";
    }
    // Most decimal fractions have no nearest binary number that equals them.
    const bool rounded = column.type == ColumnType::real;
    return "no cell of column '" + column.name + "', of type " + std::string(engine::name(column.type)) +
           ", is read so" + (rounded ? ": its cells are binary numbers; `decimal` columns are exact" : "");
  }

  const Dataset& dataset_;
  const Predicate& predicate_;
  std::map<std::string_view, CellNumbering> columns_;
};

/// Of count:C, that it can be another number than `count`.
void require_missable(const Dataset& dataset, const Question& question) {
  const Column* column = dataset.column(question.statistic.subject);
  EPSILOG_INVARIANT(column != nullptr);
  if (const std::string why = why_never_missing(dataset, *column); !why.empty()) {
    throw InvalidParameter("statistic: no row lacks a cell of column '" + column->name + "': " + why +
                           "; ask for count");
  }
}

}  // namespace

std::string why_never_missing(const Dataset& dataset, const Column& column) {
  if (column.missing) return "the policy says what stands for a missing one";
  if (column.derived && !CellLabels(column, *dataset.column(column.derived->from)).has_unlabelled_cell()) {
    return "every cell has a label";
  }
  // A label is of a cell, so what the blocks are derived from is there as well.
  if (dataset.blocks &&
      (dataset.blocks->by == column.name || dataset.read_from(dataset.blocks->by) == column.name)) {
    return "a row without it is in no block";
  }
  const bool is_id = !dataset.unit.is_row() && !column.derived && column.type == ColumnType::string &&
                     dataset.header(column.name) == dataset.header(dataset.unit.id);
  return is_id ? "a row without it belongs to no unit" : "";
}

void require_satisfiable(const Dataset& dataset, const Question& question) {
  const accounting::DefaultFloatingPoint floating_point;  // subnormal numbers are cells too
  if (question.statistic.kind == StatisticKind::count_of) require_missable(dataset, question);
  if (!question.where) return;
  std::map<std::string_view, std::set<std::string_view>> declared;
  for (const Comparison& comparison : question.where->comparisons()) {
    const Column* column = dataset.column(comparison.column);
    EPSILOG_INVARIANT(column != nullptr);
    if (column->type != ColumnType::string || column->values.empty()) continue;
    const auto [found, is_new] = declared.try_emplace(column->name);
    if (is_new) found->second.insert(column->values.begin(), column->values.end());
    require_declared_text(*column, comparison, found->second);
  }
  Satisfiable(dataset, *question.where).require();
}

}  // namespace epsilog::engine
