#include "epsilog/engine/decision_filter.hpp"

#include <algorithm>
#include <optional>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/predicate.hpp"
#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::engine {
namespace {

using Constant = Comparison::Constant;
using Operator = Comparison::Operator;

std::optional<accounting::Rational> number_of(const std::string& text) {
  try {
    return accounting::parse_rational(text, "value");
  } catch (const InvalidParameter&) {
    return std::nullopt;
  }
}

/// The value as a constant of the same type; nothing if it is none.
std::optional<Constant> typed_constant(const std::string& value, const Constant& like) {
  if (std::holds_alternative<std::string>(like)) return value;
  if (std::holds_alternative<accounting::Rational>(like)) {
    const auto number = number_of(value);
    return number ? std::optional<Constant>(*number) : std::nullopt;
  }
  if (std::holds_alternative<bool>(like)) {
    if (value != "true" && value != "false") return std::nullopt;
    return value == "true";
  }
  Comparison::Date date;
  return parse_date(value, date.days) ? std::optional<Constant>(date) : std::nullopt;
}

/// Whether the comparison names the value, or orders the column and holds for it.
bool distinguishes(const Comparison& comparison, const std::string& value) {
  return std::any_of(comparison.constants.begin(), comparison.constants.end(), [&](const Constant& constant) {
    const std::optional<Constant> own = typed_constant(value, constant);
    if (!own) return false;
    if (*own == constant) return true;
    switch (comparison.op) {
      case Operator::less:
      case Operator::less_equal:
        return *own < constant;
      case Operator::greater:
      case Operator::greater_equal:
        return constant < *own;
      default:
        return false;
    }
  });
}

bool same_value(const std::string& one, const std::string& other) {
  if (one == other) return true;
  const auto number = number_of(one);
  return number && number == number_of(other);
}

/// Whether a table by several columns has a cell of the value, where it says which cells it has.
bool has_cell_of(const Answer& answer, const std::string& column, const std::string& value) {
  const auto place = std::find(answer.asked.by.begin(), answer.asked.by.end(), column);
  if (place == answer.asked.by.end()) return false;
  const auto& lists = answer.planned.record.cells.lists();
  const auto index = static_cast<std::size_t>(place - answer.asked.by.begin());
  if (index >= lists.size()) return true;
  return std::any_of(lists[index].begin(), lists[index].end(),
                     [&value](const std::string& key) { return same_value(key, value); });
}

bool is_proportion_of(const std::string& statistic, const std::string& column, const std::string& value) {
  const std::string begin = "proportion:" + column + ":";
  return statistic.starts_with(begin) && same_value(statistic.substr(begin.size()), value);
}

bool distinguishes(const Answer& answer, const std::string& column, const std::string& value) {
  if (has_cell_of(answer, column, value) || is_proportion_of(answer.asked.statistic, column, value))
    return true;
  if (!answer.asked.where.empty()) {
    const Predicate where = Predicate::parse(answer.asked.where);
    for (const Comparison& comparison : where.comparisons()) {
      if (comparison.column == column && distinguishes(comparison, value)) return true;
    }
  }
  return std::any_of(answer.rows.begin(), answer.rows.end(),
                     [&](const Answer& row) { return distinguishes(row, column, value); });
}

}  // namespace

std::string filter_time(const std::string& text, const std::string& what) {
  std::string time = text;
  if (time.size() == 10) time += "T00:00:00Z";
  if (time.size() == 20 && time.ends_with('Z')) time.insert(19, ".000");
  if (ledger::is_time(time)) return time;
  throw InvalidParameter(what + ": '" + text.substr(0, 40) +
                         "' is neither 2027-01-31 nor 2027-01-31T18:00:00Z");
}

bool lets_through(const DecisionFilter& filter, const Answer& answer) {
  const std::string& asker = answer.asked.asker.empty() ? answer.asked.principal : answer.asked.asker;
  if (!filter.asker.empty() && asker != filter.asker) return false;
  if (!filter.since.empty() && answer.recorded.created_at < filter.since) return false;
  if (!filter.until.empty() && answer.recorded.created_at >= filter.until) return false;
  return filter.column.empty() || distinguishes(answer, filter.column, filter.value);
}

}  // namespace epsilog::engine
