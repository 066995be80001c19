#include <chrono>
#include <cstdlib>
#include <unordered_set>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/predicate.hpp"
#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

/// Whether the value can be written in a cell of the column: whole for int, with `scale` digits for
/// decimal.
bool on_grid(const Rational& value, const Column& column) {
  if (column.type == ColumnType::real) return true;
  const Rational steps = value * accounting::power_of_ten(static_cast<long>(column.scale));
  return steps.get_den() == 1;
}

std::string grid_name(const Column& column) {
  if (column.type == ColumnType::integer) return "a whole number, as the type is int";
  return "a number with at most " + std::to_string(column.scale) +
         " digits after the point, as the scale says";
}

/// YYYY-MM-DD, a day of the (proleptic) Gregorian calendar from year 1 on.
bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto digits = [&](std::size_t at, std::size_t count) {
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
      if (text[i] < '0' || text[i] > '9') return -1;
      value = value * 10 + (text[i] - '0');
    }
    return value;
  };
  const int year = digits(0, 4), month = digits(5, 2), day = digits(8, 2);
  if (year < 1 || month < 1 || day < 1) return false;
  return std::chrono::year_month_day(std::chrono::year(year),
                                     std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

void decode_scale(const Fields& fields, Column& column, Faults& faults) {
  const Node* node = fields["scale"];
  if (column.type != ColumnType::decimal) {
    if (fields.has("scale"))
      faults.add(fields.mark_of("scale"), fields.path("scale") + ": only a decimal has a scale");
    return;
  }
  if (!fields.has("scale")) {
    faults.add(column.mark, fields.path("scale") +
                                " is missing: a decimal needs its number of digits after the point, 0 to 18");
  }
  if (node == nullptr || !expect(*node, Node::Kind::scalar, fields.path("scale"), "0 to 18", faults)) return;
  const std::string& text = node->text;
  const bool digits =
      !text.empty() && text.size() <= 2 && text.find_first_not_of("0123456789") == std::string::npos;
  const bool canonical = digits && (text.size() == 1 || text[0] != '0');
  if (canonical && std::stoul(text) <= 18) {
    column.scale = static_cast<unsigned>(std::stoul(text));
  } else {
    faults.add(node->mark,
               fields.path("scale") + ": " + quoted_excerpt(text) + " is not a whole number from 0 to 18");
  }
}

/// The first day and the last one, counted as cells are.
void decode_date_bounds(const Fields& fields, Column& column, Faults& faults) {
  const std::string what = fields.path("bounds");
  const Node* node = fields["bounds"];
  if (node == nullptr || !expect(*node, Node::Kind::sequence, what, "[FIRST, LAST]", faults)) return;
  if (node->items.size() != 2) {
    faults.add(node->mark,
               what + ": expected [FIRST, LAST], found a list of " + std::to_string(node->items.size()));
    return;
  }
  std::int64_t days[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<std::string> day = decode_value(node->items[i], column, what, faults);
    if (!day || !parse_date(*day, days[i])) return;
  }
  if (days[0] < days[1]) {
    column.bounds = Bounds{Rational(days[0]), Rational(days[1])};
  } else {
    faults.add(node->mark, what + ": the first day " + node->items[0].text + " is not before the last one " +
                               node->items[1].text);
  }
}

void decode_bounds(const Fields& fields, Column& column, Faults& faults) {
  if (!fields.has("bounds")) return;
  if (column.type == ColumnType::date) return decode_date_bounds(fields, column, faults);
  if (!is_numeric(column.type)) {
    faults.add(fields.mark_of("bounds"),
               fields.path("bounds") + ": only int, decimal, double and date columns have bounds, not " +
                   std::string(name(column.type)));
    return;
  }
  const Node* node = fields["bounds"];
  if (node == nullptr) return;
  const std::optional<Bounds> bounds = bounds_of(*node, fields.path("bounds"), faults);
  if (!bounds) return;
  column.bounds = bounds;
  const std::pair<const Rational&, const Node&> ends[] = {{bounds->lower, node->items[0]},
                                                          {bounds->upper, node->items[1]}};
  for (const auto& [value, item] : ends) {
    (void)expect_on_grid(value, item, column, fields.path("bounds"), faults);
  }
}

void decode_values(const Fields& fields, Column& column, Faults& faults) {
  if (!fields.has("values")) {
    if (column.type == ColumnType::boolean) column.values = {"false", "true"};
    return;
  }
  const std::string what = fields.path("values");
  if (column.type == ColumnType::decimal || column.type == ColumnType::real) {
    faults.add(fields.mark_of("values"), what +
                                             ": only string, int, bool and date columns have values, not " +
                                             std::string(name(column.type)));
    return;
  }
  const Node* node = fields["values"];
  if (node == nullptr || !expect(*node, Node::Kind::sequence, what, "a list of values", faults)) return;
  if (node->items.empty()) faults.add(node->mark, what + ": list at least one value, or leave the key out");
  std::unordered_set<std::string> seen;
  for (const Node& item : node->items) {
    std::optional<std::string> value = decode_value(item, column, what, faults);
    if (!value) continue;
    if (!seen.insert(*value).second) {
      faults.add(item.mark, what + ": " + quoted_excerpt(item.text) + " is listed twice");
    } else {
      column.values.push_back(*std::move(value));
    }
  }
}

void decode_missing(const Fields& fields, Column& column, Faults& faults) {
  const Node* node = fields["missing"];
  const std::string what = fields.path("missing");
  if (node == nullptr || !expect(*node, Node::Kind::scalar, what, "skip or a constant", faults)) return;
  if (node->text == "skip") return;
  if (!is_numeric(column.type)) {
    faults.add(node->mark, what + ": a " + std::string(name(column.type)) +
                               " column has missing: skip only, found " + quoted_excerpt(node->text));
    return;
  }
  const std::optional<Rational> constant = number_of(*node, what, faults);
  if (!constant) return;
  if (!column.bounds) {
    if (!fields.has("bounds"))
      faults.add(node->mark, what + ": a constant needs bounds to lie in; add bounds: [LOWER, UPPER]");
  } else if (*constant < column.bounds->lower || *constant > column.bounds->upper) {
    faults.add(node->mark, what + ": " + quoted_excerpt(node->text) + " is outside the bounds [" +
                               accounting::text(column.bounds->lower) + ", " +
                               accounting::text(column.bounds->upper) + "]");
  } else if (expect_on_grid(*constant, *node, column, what, faults)) {
    column.missing = constant;
  }
}

/// How many multiples of the step lie in the bounds.
accounting::Integer multiples_in(const Bounds& bounds, const Rational& step) {
  return accounting::floor(bounds.upper / step) - accounting::ceil(bounds.lower / step) + 1;
}

void decode_step(const Fields& fields, Column& column, Faults& faults) {
  if (!fields.has("step")) return;
  const std::string what = fields.path("step");
  const auto refuse = [&](std::string why) { faults.add(fields.mark_of("step"), what + std::move(why)); };
  if (!is_numeric(column.type)) {
    return refuse(": only int, decimal and double columns have a step, not " +
                  std::string(name(column.type)) +
                  (column.type == ColumnType::date ? ", whose quantiles are days" : ""));
  }
  if (!column.values.empty()) return refuse(": its quantiles are declared values; remove step");
  if (!fields.has("bounds"))
    return refuse(": its multiples have to end somewhere; add bounds: [LOWER, UPPER]");
  const Node* node = fields["step"];
  if (node == nullptr) return;
  const std::optional<Rational> step = positive_of(*node, what, faults);
  if (!step || !column.bounds) return;
  if (!on_grid(*step, column))
    return refuse(": " + quoted_excerpt(node->text) + " is not " + grid_name(column));
  const accounting::Integer candidates = multiples_in(*column.bounds, *step);
  if (candidates < 1) return refuse(": none of its multiples lies in the bounds");
  if (candidates > accounting::Integer(static_cast<unsigned long>(kQuantileCandidatesMax))) {
    return refuse(": " + candidates.get_str() +
                  " of its multiples lie in the bounds, and a quantile is one of at most " +
                  std::to_string(kQuantileCandidatesMax) + "; write a greater one");
  }
  column.step = step;
}

/// What other systems call it; "" for what no other does.
std::string_view usual_type(std::string_view word) {
  struct Usual {
    std::string_view word;
    std::string_view meant;
  };
  constexpr std::string_view kNumber = "double, or decimal with a scale where amounts are exact";
  constexpr Usual kUsual[] = {{"float", kNumber},     {"float64", kNumber}, {"real", kNumber},
                              {"number", kNumber},    {"numeric", kNumber}, {"money", "decimal with a scale"},
                              {"varchar", "string"},  {"text", "string"},   {"object", "string"},
                              {"category", "string"}, {"timestamp", "date"}};
  for (const Usual& one : kUsual) {
    if (word == one.word) return one.meant;
  }
  return "";
}

Column decode_column(const yaml::Entry& entry, Faults& faults) {
  Column column;
  column.name = entry.key;
  column.mark = entry.mark;
  const Fields fields(entry.value, keys::column, "columns." + entry.key, entry.mark, faults);
  if (const Node* header = fields["column"]) {
    column.header = text_of(*header, fields.path("column"), faults).value_or("");
  }
  const Node* type = fields["type"];
  if (type == nullptr) return column;
  if (const std::string_view meant = usual_type(type->text);
      type->kind == Node::Kind::scalar && !meant.empty()) {
    faults.add(type->mark, fields.path("type") + ": " + quoted_excerpt(type->text) + " is not one of " +
                               comma_list(keys::column_types.words) + ". Write " + std::string(meant));
    return column;
  }
  const auto choice = word_of(*type, keys::column_types, fields.path("type"), faults);
  // What else may be written depends on the type, so without one nothing more can be said.
  if (!choice) return column;
  column.type = *choice;
  decode_scale(fields, column, faults);
  decode_bounds(fields, column, faults);
  decode_values(fields, column, faults);
  decode_step(fields, column, faults);
  decode_missing(fields, column, faults);
  return column;
}

}  // namespace

bool expect_on_grid(const Rational& value, const Node& written, const Column& column, const std::string& what,
                    Faults& faults) {
  if (on_grid(value, column)) return true;
  faults.add(written.mark, what + ": " + quoted_excerpt(written.text) + " is not " + grid_name(column));
  return false;
}

std::optional<std::string> decode_value(const Node& item, const Column& column, const std::string& what,
                                        Faults& faults) {
  if (column.type == ColumnType::integer) {
    const std::optional<Rational> number = number_of(item, what, faults);
    if (!number) return std::nullopt;
    std::string problem;
    if (!on_grid(*number, column)) problem = "is not a whole number";
    const bool outside = column.bounds && (*number < column.bounds->lower || *number > column.bounds->upper);
    if (outside) problem = "is outside the bounds";
    if (problem.empty()) return accounting::text(*number);
    faults.add(item.mark, what + ": " + quoted_excerpt(item.text) + " " + problem);
    return std::nullopt;
  }
  if (column.type == ColumnType::boolean) {
    const std::optional<bool> truth = truth_of(item, what, faults);
    if (!truth) return std::nullopt;
    return *truth ? "true" : "false";
  }
  std::optional<std::string> text = text_of(item, what, faults);
  if (text && column.type == ColumnType::date && !is_date(*text)) {
    faults.add(item.mark, what + ": " + quoted_excerpt(*text) + " is not a date of the calendar, YYYY-MM-DD");
    return std::nullopt;
  }
  if (text && column.type == ColumnType::date && column.bounds) {
    std::int64_t days = 0;
    EPSILOG_INVARIANT(parse_date(*text, days));
    if (Rational(days) < column.bounds->lower || Rational(days) > column.bounds->upper) {
      faults.add(item.mark, what + ": " + quoted_excerpt(*text) + " is outside the bounds");
      return std::nullopt;
    }
  }
  return text;
}

bool is_column_name(std::string_view name) {
  Faults none("");
  return expect_name(name, {}, "column", none) && !is_condition_word(name) && !is_later_condition_word(name);
}

std::vector<Column> decode_columns(const Node& node, Faults& faults) {
  std::vector<Column> columns;
  if (!expect(node, Node::Kind::map, "columns", "a map of columns by name", faults)) return columns;
  DistinctNames broken;
  std::vector<std::pair<std::size_t, const yaml::Entry*>> derived;
  for (const yaml::Entry& entry : node.entries) {
    if (!expect_name(entry.key, entry.mark, "column", faults)) continue;
    // The words that came later are names in what is stored; checked_policy() refuses them.
    if (is_condition_word(entry.key)) {
      faults.add(entry.mark, "column name " + quoted_excerpt(entry.key) +
                                 ": this is a word of --where; rename the column");
      continue;
    }
    const std::size_t faults_before = faults.size();
    if (is_derived(entry.value)) {
      derived.emplace_back(columns.size(), &entry);
      Column& column = columns.emplace_back();
      column.name = entry.key;
      column.mark = entry.mark;
      column.derived.emplace();
    } else {
      columns.push_back(decode_column(entry, faults));
    }
    if (faults.size() != faults_before) broken.insert(entry.key);
  }
  // What they are functions of may be declared after them.
  for (const auto& [place, entry] : derived) decode_derived(*entry, columns, broken, columns[place], faults);
  return columns;
}

}  // namespace epsilog::engine
