#include "policy_values.hpp"

#include "calendar.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "policy_faults.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {

using accounting::text;

namespace {

/// "{a: 1, b: 2}" from its entries.
class FlowMap final {
 public:
  FlowMap& add(std::string_view key, const std::string& value) {
    entries_ += (entries_.empty() ? "" : ", ") + std::string(key) + ": " + value;
    return *this;
  }
  FlowMap& add(std::string_view key, const std::optional<std::vector<std::string>>& texts) {
    return texts ? add(key, yaml::sequence(*texts)) : *this;
  }
  [[nodiscard]] std::string text() const { return "{" + entries_ + "}"; }

 private:
  std::string entries_;
};

std::string orders_text(const std::vector<RenyiLimit>& limits) {
  FlowMap orders;
  for (const RenyiLimit& limit : limits) orders.add(text(limit.order), limit.divergence.text());
  return orders.text();
}

void add_amounts(FlowMap& map, const Budget& budget) {
  switch (budget.measure) {
    case Measure::pure:
      map.add("epsilon", budget.epsilon.text());
      return;
    case Measure::approximate:
      map.add("epsilon", budget.epsilon.text()).add("delta", budget.delta.text());
      return;
    case Measure::zcdp:
      map.add("measure", "zcdp").add("rho", budget.rho.text());
      return;
    case Measure::rdp:
      map.add("measure", "rdp").add("orders", orders_text(budget.orders));
      return;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

std::string value_text(const Bounds& bounds) {
  return "[" + text(bounds.lower) + ", " + text(bounds.upper) + "]";
}

std::string bound_text(const Column& column, const Rational& bound) {
  return column.type == ColumnType::date ? date_text(bound.get_num().get_si()) : text(bound);
}

std::string value_text(const Budget& budget) {
  FlowMap map;
  add_amounts(map, budget);
  return map.text();
}

std::string value_text(const LossCap& cap) {
  FlowMap map;
  if (cap.epsilon) map.add("epsilon", cap.epsilon->text());
  if (cap.delta) map.add("delta", cap.delta->text());
  if (cap.rho) map.add("rho", cap.rho->text());
  if (!cap.orders.empty()) map.add("orders", orders_text(cap.orders));
  return map.text();
}

std::string value_text(const Blocks& blocks) {
  FlowMap map;
  map.add("by", yaml::scalar(blocks.by));
  if (blocks.per) {
    map.add("per", std::string(name(*blocks.per)))
        .add("from", period_name(*blocks.per, blocks.first_day))
        .add("to", period_name(*blocks.per, blocks.last_day));
  }
  return map.text();
}

std::string value_text(const Limit& limit) {
  FlowMap map;
  if (limit.name.empty()) {
    map.add("each", std::string(name(limit.subject)));
  } else {
    map.add(name(limit.subject), yaml::scalar(limit.name));
  }
  add_amounts(map, limit.budget);
  return map.text();
}

std::string value_text(const Forbid& rule) {
  FlowMap map;
  map.add("principals", rule.principals).add("roles", rule.roles).add("purposes", rule.purposes);
  if (rule.statistics) map.add("statistics", value_text(*rule.statistics));
  return map.add("columns", rule.columns).add("by", rule.by).add("where", rule.where).text();
}

std::string above_text(const Approvals& approvals) {
  std::string text = value_text(*approvals.above);
  if (approvals.within_seconds == 0) return text;
  text.pop_back();
  return text + ", within: " + duration_text(approvals.within_seconds) + "}";
}

std::string value_text(const Approvals& approvals) {
  FlowMap by;
  if (!approvals.principals.empty()) by.add("principals", approvals.principals);
  if (!approvals.roles.empty()) by.add("roles", approvals.roles);
  FlowMap map;
  map.add("required", std::to_string(approvals.required)).add("by", by.text());
  if (approvals.above) map.add("above", above_text(approvals));
  return map.add("expires", duration_text(approvals.expires_seconds)).text();
}

std::string value_text(const UnitOfPrivacy& unit) {
  if (unit.is_row()) return "row";
  return FlowMap().add("id", yaml::scalar(unit.id)).add("max_rows", std::to_string(unit.max_rows)).text();
}

std::string value_text(const Rows& rows) {
  if (rows.count == 0) return "";
  return FlowMap().add(rows.exact ? "exact" : "max", std::to_string(rows.count)).text();
}

std::string value_text(const std::vector<std::pair<std::string, std::string>>& labels) {
  FlowMap map;
  for (const auto& [value, label] : labels) map.add(yaml::scalar(value), yaml::scalar(label));
  return map.text();
}

std::string value_text(const std::vector<Rational>& numbers) {
  std::vector<std::string> texts;
  for (const Rational& number : numbers) texts.push_back(text(number));
  return "[" + comma_list(texts) + "]";
}

std::string value_text(const LabelRule& rule) {
  FlowMap map;
  map.add("from", yaml::scalar(rule.from));
  if (!rule.bins.empty()) map.add("bins", value_text(rule.bins));
  if (rule.per) {
    map.add("per", std::string(name(*rule.per)))
        .add("first", period_name(*rule.per, rule.first_day))
        .add("last", period_name(*rule.per, rule.last_day));
  }
  if (!rule.map.empty()) map.add("map", value_text(rule.map));
  if (rule.other) map.add("other", yaml::scalar(*rule.other));
  return map.text();
}

std::string value_text(const Column& column) {
  if (column.derived) return value_text(*column.derived);
  FlowMap map;
  if (!column.header.empty()) map.add("column", yaml::scalar(column.header));
  map.add("type", std::string(name(column.type)));
  if (column.type == ColumnType::decimal) map.add("scale", std::to_string(column.scale));
  if (column.bounds) {
    map.add("bounds", "[" + bound_text(column, column.bounds->lower) + ", " +
                          bound_text(column, column.bounds->upper) + "]");
  }
  if (column.type == ColumnType::string) {
    if (!column.values.empty()) map.add("values", column.values);
  } else if (!column.values.empty()) {
    map.add("values", "[" + comma_list(column.values) + "]");  // canonical numbers, bools or dates
  }
  if (column.missing) map.add("missing", text(*column.missing));
  return map.text();
}

std::string value_text(const NamedQuery& query) {
  return FlowMap()
      .add("bounds", value_text(query.bounds))
      .add("sensitivity", text(query.sensitivity))
      .add("undefined", text(query.undefined))
      .text();
}

std::string value_text(const Principal& principal) {
  FlowMap map;
  if (!principal.roles.empty()) map.add("roles", principal.roles);
  return map.add("purposes", principal.purposes).text();
}

std::vector<std::string> names(const std::vector<StatisticKind>& kinds) {
  std::vector<std::string> result;
  for (const StatisticKind kind : kinds) result.emplace_back(name(kind));
  return result;
}

std::vector<std::string> names(const std::vector<Duty>& duties) {
  std::vector<std::string> result;
  for (const Duty duty : duties) result.emplace_back(name(duty));
  return result;
}

std::string value_text(const std::vector<StatisticKind>& kinds) {
  return yaml::sequence(names(kinds));
}

std::string source_text(const Dataset& dataset) {
  if (dataset.csv) return FlowMap().add("csv", yaml::scalar(dataset.csv->path)).text();
  if (!dataset.sqlite) return "";
  return FlowMap()
      .add("sqlite", yaml::scalar(dataset.sqlite->path))
      .add("table", yaml::scalar(dataset.sqlite->table))
      .text();
}

std::string duration_text(std::int64_t seconds) {
  struct Unit {
    std::int64_t seconds;
    char letter;
  };
  for (const Unit unit : {Unit{86400, 'd'}, Unit{3600, 'h'}, Unit{60, 'm'}}) {
    if (seconds % unit.seconds == 0) return std::to_string(seconds / unit.seconds) + unit.letter;
  }
  return std::to_string(seconds) + "s";
}

}  // namespace epsilog::engine
