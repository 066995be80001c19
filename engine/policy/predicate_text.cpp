// What a condition is written as, and what it asks of one column.
#include "epsilog/engine/predicate.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "predicate_reader.hpp"

namespace epsilog::engine {
namespace {

using accounting::Rational;
using Operator = Comparison::Operator;
using Kind = Condition::Kind;

constexpr std::size_t kTextMax = 65'536;

std::string in_quotes(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    result += c;
    if (c == quote) result += c;
  }
  return result + quote;
}

/// Before an operator that is as old as conditions the later words stay bare: so older programs wrote them,
/// and the text of a question is what a retry is known by.
std::string column_text(const std::string& column, bool old_operator) {
  bool bare = !column.empty() && starts_bare_name(column[0]) && !is_condition_word(column) &&
              (old_operator || !is_later_condition_word(column));
  for (const char c : column) bare = bare && continues_bare_name(c);
  return bare ? column : in_quotes(column, '"');
}

std::string constant_text(const Comparison::Constant& constant) {
  if (const auto* number = std::get_if<Rational>(&constant)) return accounting::text(*number);
  if (const auto* string = std::get_if<std::string>(&constant)) return in_quotes(*string, '\'');
  if (const auto* boolean = std::get_if<bool>(&constant)) return *boolean ? "true" : "false";
  return date_text(std::get<Comparison::Date>(constant).days);
}

std::string list_text(const std::vector<Comparison::Constant>& constants) {
  std::string list;
  for (const auto& constant : constants) list += (list.empty() ? "" : ", ") + constant_text(constant);
  return "(" + list + ")";
}

std::string operator_text(Operator op) {
  for (const OperatorSpelling& spelling : kOperatorSpellings) {
    if (spelling.op == op) return std::string(spelling.text);
  }
  EPSILOG_INVARIANT(false);
  return "";
}

/// What is left of a part once every comparison with another column is satisfied; nothing if that satisfies
/// it.
std::optional<Condition> about_column(const Condition& part, const std::vector<Comparison>& comparisons,
                                      std::string_view column) {
  if (part.kind == Kind::comparison) {
    return comparisons[part.index].column == column ? std::optional(part) : std::nullopt;
  }
  std::vector<Condition> parts;
  for (const Condition& inner : part.parts) {
    if (auto found = about_column(inner, comparisons, column)) {
      parts.push_back(std::move(*found));
    } else if (part.kind == Kind::any) {
      return std::nullopt;
    }
  }
  if (parts.empty()) return std::nullopt;
  return join_conditions(part.kind, std::move(parts));
}

/// The comparisons of a part, and it with their new places.
Condition taken_over(const Condition& part, const std::vector<Comparison>& from,
                     std::vector<Comparison>& to) {
  Condition result = part;
  if (part.kind == Kind::comparison) {
    result.index = to.size();
    to.push_back(from[part.index]);
  }
  for (Condition& inner : result.parts) inner = taken_over(inner, from, to);
  return result;
}

}  // namespace

Predicate Predicate::parse(std::string_view text) {
  ReadPredicate read = read_predicate(text);
  Predicate result;
  result.comparisons_ = std::move(read.comparisons);
  result.condition_ = std::move(read.condition);
  result.new_request_fault_ =
      text.size() > kTextMax ? "where: longer than 65536 bytes" : std::move(read.new_request_fault);
  return result;
}

std::string Comparison::text() const {
  switch (op) {
    case Operator::in:
      return column_text(column, true) + " in " + list_text(constants);
    case Operator::not_in:
      return column_text(column, false) + " not in " + list_text(constants);
    case Operator::missing:
      return column_text(column, false) + " is missing";
    case Operator::not_missing:
      return column_text(column, false) + " is not missing";
    default:
      return column_text(column, true) + " " + operator_text(op) + " " + constant_text(constants.front());
  }
}

std::optional<Predicate> Predicate::about(std::string_view column) const {
  const std::optional<Condition> left = about_column(condition_, comparisons_, column);
  if (!left) return std::nullopt;
  Predicate result;
  result.condition_ = taken_over(*left, comparisons_, result.comparisons_);
  return result;
}

std::string Predicate::text() const {
  return text(condition_);
}

std::string Predicate::text(const Condition& part) const {
  if (part.kind == Kind::comparison) return comparisons_[part.index].text();
  const bool all = part.kind == Kind::all;
  std::string result;
  for (const Condition& inner : part.parts) {
    if (!result.empty()) result += all ? " and " : " or ";
    // `and` binds more closely, and no part of an `and` is one.
    const bool enclosed = all && inner.kind == Kind::any;
    result += enclosed ? "(" + text(inner) + ")" : text(inner);
  }
  return result;
}

}  // namespace epsilog::engine
