// What the data look like, and how what is asked of them is released.
#include <set>

#include "calendar.hpp"
#include "implied_parts.hpp"
#include "policy_values.hpp"
#include "policy_words.hpp"

namespace epsilog::engine {

using accounting::text;

namespace {

/// The path is no part of what a policy implies: data that were moved are the same.
void write_csv(JsonWriter& json, const CsvSource& csv) {
  [[maybe_unused]] const auto& [path, delimiter, decimal_point, null, multiline, encoding, thousands,
                                date_format] = csv;
  std::vector<std::string> missing = null;
  if (std::find(null.begin(), null.end(), "") == null.end()) missing.emplace_back();  // always means missing
  json.raw("{").field("date_format", name(date_format)).field("decimal", std::string(1, decimal_point));
  json.field("delimiter", std::string(1, delimiter)).field("encoding", name(encoding));
  json.field("format", "csv").field("multiline").raw(multiline ? "true" : "false");
  write_names(json.field("null"), std::move(missing));
  if (!thousands.empty()) json.field("thousands").bytes(thousands);
  json.raw("}");
}

void write_bounds(JsonWriter& json, const Bounds& bounds) {
  const auto& [lower, upper] = bounds;
  json.values({lower, upper});
}

/// Of which every cell that is not missing is a multiple; nothing where cells may be any number, or are none.
std::optional<Rational> step_of(const Column& column) {
  if (column.type == ColumnType::integer) return Rational(1);
  if (column.type != ColumnType::decimal) return std::nullopt;
  return accounting::power_of_ten(-static_cast<long>(column.scale));
}

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.array(texts, [&](const std::string& text) { json.bytes(text); });
}

void write_derived(JsonWriter& json, const Column& column) {
  [[maybe_unused]] const auto& [from, bins, per, first_day, last_day, map, other] = *column.derived;
  json.raw("{");
  if (!bins.empty()) json.field("bins").values(bins);
  if (per) json.field("first", period_name(*per, first_day));
  json.field("from", from);
  if (per) json.field("last", period_name(*per, last_day));
  if (!map.empty()) {
    json.field("map").array(map, [&](const auto& entry) {
      json.raw("{").field("label").bytes(entry.second).field("value").bytes(entry.first).raw("}");
    });
  }
  json.field("name", column.name);
  if (other) json.field("other").bytes(*other);
  if (per) json.field("per", name(*per));
  json.field("type", name(column.type));
  write_texts(json.field("values"), column.values);
  json.raw("}");
}

void write_column(JsonWriter& json, const Column& column) {
  [[maybe_unused]] const auto& [own_name, type, scale, bounds, values, step, missing, header, mark, derived] =
      column;
  if (derived) return write_derived(json, column);
  json.raw("{");
  if (bounds && type == ColumnType::date) {
    write_texts(json.field("bounds"), {bound_text(column, bounds->lower), bound_text(column, bounds->upper)});
  } else if (bounds) {
    write_bounds(json.field("bounds"), *bounds);
  }
  if (step) json.field("candidate_step", text(*step));
  json.field("column").bytes(header.empty() ? own_name : header);
  if (missing) json.field("missing", text(*missing));
  json.field("name", own_name);
  if (const auto of_cells = step_of(column)) json.field("step", text(*of_cells));
  json.field("type", name(type));
  if (!values.empty()) write_texts(json.field("values"), values);
  json.raw("}");
}

void write_query(JsonWriter& json, const NamedQuery& query) {
  [[maybe_unused]] const auto& [own_name, bounds, sensitivity, undefined, supplied_by, mark] = query;
  write_bounds(json.raw("{").field("bounds"), bounds);
  json.field("name", own_name).field("sensitivity", text(sensitivity));
  field_if(json, "supplied_by", supplied_by);
  json.field("undefined", text(undefined)).raw("}");
}

void write_settings(JsonWriter& json, const std::string& of, const ReleaseSettings& settings) {
  [[maybe_unused]] const auto& [mechanism, arithmetic, precision, bound, binding_probability, grid, mark] =
      settings;
  json.raw("{");
  if (mechanism == MechanismChoice::snapping) json.field("arithmetic", kArithmeticWords.of(arithmetic));
  if (binding_probability) json.field("binding_probability", text(*binding_probability));
  if (bound) json.field("bound", text(*bound));
  if (grid) json.field("grid", text(*grid));
  json.field("mechanism", name(mechanism)).field("name", of);
  if (precision.bits != 0) json.field("precision").count(precision.bits);
  json.raw("}");
}

}  // namespace

void write_source(JsonWriter& json, const Dataset& dataset) {
  if (dataset.csv) return write_csv(json, *dataset.csv);
  [[maybe_unused]] const auto& [path, table] = *dataset.sqlite;
  json.raw("{").field("format", "sqlite").field("table").bytes(table).raw("}");
}

void write_unit(JsonWriter& json, const Dataset& dataset) {
  const auto& [id, max_rows] = dataset.unit;
  json.raw("{");
  if (!dataset.unit.is_row()) json.field("column").bytes(dataset.header(id)).field("id").bytes(id);
  json.field("max_rows").count(max_rows).raw("}");
}

void write_rows(JsonWriter& json, const Rows& rows) {
  const auto& [count, exact] = rows;
  json.raw("{").field(exact ? "exact" : "max").count(count).raw("}");
}

void write_columns(JsonWriter& json, const std::vector<Column>& columns) {
  json.array(by_name(columns), [&](const Column* column) { write_column(json, *column); });
}

void write_queries(JsonWriter& json, const std::vector<NamedQuery>& queries) {
  json.array(by_name(queries), [&](const NamedQuery* query) { write_query(json, *query); });
}

void write_release(JsonWriter& json, const Dataset& dataset) {
  std::set<std::string> released;
  for (const std::string& statistic : kStatisticWords.list()) {
    const StatisticKind kind = kStatisticWords.find(statistic).value();
    // A value is released as its query says, and every variance as a variance; a later statistic is there
    // where it can be asked, so that what older policies imply stays what it was.
    if (kind == StatisticKind::value || kind == StatisticKind::private_variance) continue;
    if (!is_later_statistic(kind) || permits(dataset.allow.statistics, kind)) released.insert(statistic);
  }
  for (const NamedQuery& query : dataset.queries) released.insert(query.name);
  const std::string quantile(name(StatisticKind::quantile));
  const bool selects =
      permits(dataset.allow.statistics, StatisticKind::quantile) && dataset.query(quantile) == nullptr;
  json.array(released, [&](const std::string& one) {
    if (!selects || one != quantile) return write_settings(json, one, dataset.settings(one));
    json.raw("{").field("mechanism", name(dataset.selection())).field("name", one).raw("}");
  });
}

}  // namespace epsilog::engine
