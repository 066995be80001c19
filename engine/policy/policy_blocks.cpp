// The declared partition of the data: `blocks`.
#include <algorithm>

#include "calendar.hpp"
#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

void refuse_too_many(const Mark& mark, const std::string& subject, Faults& faults) {
  faults.add(mark, "blocks: " + subject + " are more than " + std::to_string(kPeriodsMax) +
                       " blocks; a coarser partition has fewer accounts to debit");
}

void decode_range(const Fields& fields, CalendarPeriod per, Blocks& blocks, Faults& faults) {
  for (const std::string_view key : {"from", "to"}) {
    if (!fields.lacks(key)) continue;
    faults.add(fields.owner(), "blocks: the key '" + std::string(key) + "' is missing; write " +
                                   std::string(key) + ": " + std::string(example(per)) +
                                   ", as blocks come from a declared range and not from the data");
  }
  const auto from = decode_period(fields, "from", per, faults);
  const auto to = decode_period(fields, "to", per, faults);
  if (!from || !to) return;
  if (from->first > to->first) {
    faults.add(fields["from"]->mark, "blocks.from: " + fields["from"]->text + " is after " +
                                         fields["to"]->text + ", where the range ends");
    return;
  }
  blocks.first_day = from->first;
  blocks.last_day = to->last;
  if (too_many_periods(per, blocks.first_day, blocks.last_day)) {
    refuse_too_many(
        fields["from"]->mark,
        "the " + std::string(name(per)) + "s from " + fields["from"]->text + " to " + fields["to"]->text,
        faults);
  }
}

void refuse_periods_of_values(const Fields& fields, const Column& column, Faults& faults) {
  const std::string is = column.derived ? " is derived; remove it, so that each of its labels is a block"
                                        : " is " + std::string(name(column.type)) +
                                              "; remove it, so that each declared value is a block";
  for (const std::string_view key : {"per", "from", "to"}) {
    if (!fields.has(key)) continue;
    faults.add(fields.mark_of(key), fields.path(key) + ": only a date column is cut into periods, and " +
                                        quoted_excerpt(column.name) + is);
  }
}

void decode_partition(const Fields& fields, const Column& column, Blocks& blocks, Faults& faults) {
  if (column.type == ColumnType::date && fields.has("per")) {
    const Node* per = fields["per"];
    if (per != nullptr) blocks.per = period_kind_of(*per, "blocks.per", faults);
    if (blocks.per) decode_range(fields, *blocks.per, blocks, faults);
    return;
  }
  if (column.type != ColumnType::date) {
    refuse_periods_of_values(fields, column, faults);
  } else {
    for (const std::string_view key : {"from", "to"}) {
      if (!fields.has(key) || !fields.lacks("per")) continue;
      faults.add(fields.mark_of(key), fields.path(key) +
                                          ": of which periods? Add per: month, or another of " +
                                          comma_list(keys::periods.words));
    }
  }
  if (column.values.empty() && fields.lacks("per") && !fields.has("from") && !fields.has("to")) {
    faults.add(fields["by"]->mark,
               "blocks.by: the column " + quoted_excerpt(column.name) +
                   " declares no values; blocks must be public, so " +
                   (column.type == ColumnType::date ? "add per: month, from and to, or declare values"
                                                    : "declare values, or take a date column"));
  }
  if (column.values.size() > kPeriodsMax) {
    const std::string of = column.derived ? "the labels of " : "the declared values of ";
    refuse_too_many(fields["by"]->mark, of + quoted_excerpt(column.name), faults);
  }
}

}  // namespace

std::optional<DayRange> decode_period(const Fields& fields, std::string_view key, CalendarPeriod per,
                                      Faults& faults) {
  const Node* node = fields[key];
  if (node == nullptr) return std::nullopt;
  const std::string spelled = "a " + std::string(name(per)) + " written as " + std::string(example(per));
  if (!expect(*node, Node::Kind::scalar, fields.path(key), spelled, faults)) return std::nullopt;
  const std::optional<DayRange> days = parse_period(per, node->text);
  if (!days) {
    faults.add(node->mark, fields.path(key) + ": " + quoted_excerpt(node->text) + " is not " + spelled);
  }
  return days;
}

bool too_many_periods(CalendarPeriod per, std::int64_t first_day, std::int64_t last_day) {
  std::size_t count = 0;
  for (std::int64_t day = first_day; day <= last_day && count <= kPeriodsMax; ++count) {
    day = period_of(per, day).last + 1;
  }
  return count > kPeriodsMax;
}

std::optional<Blocks> decode_blocks(const Node& node, const Mark& owner, const Dataset& dataset,
                                    Faults& faults) {
  const Fields fields(node, keys::blocks, "blocks", owner, faults);
  if (node.kind != Node::Kind::map) return std::nullopt;
  Blocks blocks;
  blocks.mark = owner;
  const Node* by = fields["by"];
  const auto column_name = by != nullptr ? text_of(*by, "blocks.by", faults) : std::nullopt;
  if (!column_name) return std::nullopt;
  blocks.by = *column_name;
  const Column* column = dataset.column(*column_name);
  if (column == nullptr) {
    std::vector<std::string> names;
    for (const Column& declared : dataset.columns) names.push_back(declared.name);
    faults.add(by->mark, "blocks.by: " + quoted_excerpt(*column_name) + " is not a declared column." +
                             faults.suggestion(*column_name, names));
    return std::nullopt;
  }
  // What is wrong with its labels has been said.
  if (!column->derived || !column->values.empty()) decode_partition(fields, *column, blocks, faults);
  return blocks;
}

}  // namespace epsilog::engine
