// Who may ask for what, and with whose consent.
#include "implied_parts.hpp"
#include "policy_values.hpp"

namespace epsilog::engine {
namespace {

std::optional<std::vector<std::string>> words(const std::optional<std::vector<StatisticKind>>& kinds) {
  return kinds ? std::optional(names(*kinds)) : std::nullopt;
}

void write_principal(JsonWriter& json, const Principal& principal) {
  [[maybe_unused]] const auto& [own_name, roles, purposes, duties, mark] = principal;
  json.raw("{");
  if (!duties.empty()) write_names(json.field("duties"), names(duties));
  json.field("name").bytes(own_name);
  field_if(json, "purposes", purposes);
  write_names(json.field("roles"), roles);
  json.raw("}");
}

void write_rule(JsonWriter& json, const Forbid& rule) {
  [[maybe_unused]] const auto& [principals, roles, purposes, statistics, columns, by, where, mark] = rule;
  json.raw("{");
  field_if(json, "by", by);
  field_if(json, "columns", columns);
  field_if(json, "principals", principals);
  field_if(json, "purposes", purposes);
  field_if(json, "roles", roles);
  field_if(json, "statistics", words(statistics));
  field_if(json, "where", where);
  json.raw("}");
}

}  // namespace

void write_principals(JsonWriter& json, const std::vector<Principal>& principals) {
  json.array(by_name(principals), [&](const Principal* principal) { write_principal(json, *principal); });
}

void write_allow(JsonWriter& json, const Allow& allow) {
  const auto& [statistics, columns, by, where, principals, roles] = allow;
  json.raw("{");
  field_if(json, "by", by);
  field_if(json, "columns", columns);
  field_if(json, "principals", principals);
  field_if(json, "roles", roles);
  write_names(json.field("statistics"), names(statistics));
  field_if(json, "where", where);
  json.raw("}");
}

/// In the order of the policy: a refusal says which rule it was by its number.
void write_forbid(JsonWriter& json, const std::vector<Forbid>& rules) {
  json.array(rules, [&](const Forbid& rule) { write_rule(json, rule); });
}

void write_approvals(JsonWriter& json, const Approvals& approvals) {
  [[maybe_unused]] const auto& [required, principals, roles, above, within_seconds, expires_seconds, mark] =
      approvals;
  json.raw("{");
  if (above) write_cap(json.field("above"), *above);
  json.field("by").raw("{");
  write_names(json.field("principals"), principals);
  write_names(json.field("roles"), roles);
  json.raw("}").field("expires_seconds", expires_seconds);
  json.field("required").count(required);
  if (within_seconds != 0) json.field("within_seconds", within_seconds);
  json.raw("}");
}

void write_names(JsonWriter& json, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  json.array(names, [&](const std::string& name) { json.bytes(name); });
}

void field_if(JsonWriter& json, std::string_view name, const std::optional<std::vector<std::string>>& names) {
  if (names) write_names(json.field(name), *names);
}

}  // namespace epsilog::engine
