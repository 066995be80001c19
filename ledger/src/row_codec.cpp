#include "row_codec.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "json_writer.hpp"

namespace epsilog::ledger {
namespace {

using Json = nlohmann::ordered_json;
using accounting::PostProcessing;

constexpr std::array kKinds{PostProcessing::Kind::none, PostProcessing::Kind::mean_about,
                            PostProcessing::Kind::variance_about, PostProcessing::Kind::rounded};

/// Parses and hands to `read`; whatever does not have the expected shape is corruption.
template <class Read>
auto read_json(std::string_view text, const char* column, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw LedgerCorrupt(std::string("column ") + column + " is malformed: " + error.what());
  }
}

/// nlohmann reads any number as an integer if asked to; an amount of 1.5 must not become 1.
std::int64_t integer(const Json& json, const char* field) {
  const Json& value = json.at(field);
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
    throw LedgerCorrupt(std::string("field ") + field + " is not an integer");
  }
  return value.get<std::int64_t>();
}

std::vector<Rational> to_rationals(const Json& array) {
  if (!array.is_array()) throw LedgerCorrupt("values are not an array");
  std::vector<Rational> values;
  values.reserve(array.size());
  for (const Json& value : array)
    values.push_back(accounting::parse_stored_rational(value.get_ref<const std::string&>(), "value"));
  return values;
}

ComponentRecord to_component(const Json& json) {
  ComponentRecord component;
  json.at("statistic").get_to(component.statistic);
  json.at("epsilon").get_to(component.epsilon);
  component.delta = json.value("delta", "");
  json.at("sensitivity").get_to(component.sensitivity);
  component.sensitivity_l2_squared = json.value("sensitivity_l2_squared", "");
  component.inflated = json.value("inflated", "");
  json.at("lambda").get_to(component.lambda);
  json.at("grid").get_to(component.grid);
  json.at("centre").get_to(component.centre);
  json.at("bound").get_to(component.bound);
  component.coordinates = integer(json, "coordinates");
  component.precision = integer(json, "precision");
  json.at("adjusted").get_to(component.adjusted);
  component.adjusted_delta = json.value("adjusted_delta", "");
  component.rho = json.value("rho", "");
  json.at("published").get_to(component.published);
  json.at("published_note").get_to(component.published_note);
  return component;
}

/// A member that is an exact number.
Rational rational(const Json& object, const char* field) {
  return accounting::parse_stored_rational(object.at(field).get_ref<const std::string&>(), field);
}

}  // namespace

std::string accounts_json(const std::vector<AccountState>& accounts) {
  JsonWriter json;
  json.array(accounts, [&](const AccountState& account) {
    json.raw("{")
        .field("id", account.id)
        .field("scope", account.scope)
        .field("measure", account.measure)
        .field("limit", account.balance.limit)
        .field("spent", account.balance.spent)
        .field("reserved", account.balance.reserved)
        .raw("}");
  });
  return json.take();
}

std::vector<AccountState> parse_accounts(std::string_view json, const std::string& dataset) {
  return read_json(json, "accounts", [&](const Json& array) {
    if (!array.is_array()) throw LedgerCorrupt("column accounts is not an array");
    std::vector<AccountState> accounts;
    for (const Json& entry : array) {
      AccountState account;
      account.id = integer(entry, "id");
      account.dataset = dataset;
      entry.at("scope").get_to(account.scope);
      entry.at("measure").get_to(account.measure);
      account.balance = {.limit = integer(entry, "limit"),
                         .spent = integer(entry, "spent"),
                         .reserved = integer(entry, "reserved")};
      accounts.push_back(std::move(account));
    }
    return accounts;
  });
}

std::string components_json(const std::vector<ComponentRecord>& components,
                            const std::vector<std::vector<Rational>>& values) {
  EPSILOG_INVARIANT(components.size() == values.size());
  JsonWriter json;
  auto drawn = values.begin();
  json.array(components, [&](const ComponentRecord& component) {
    json.raw("{")
        .field("statistic", component.statistic)
        .field("epsilon", component.epsilon)
        .field_unless_empty("delta", component.delta)
        .field("sensitivity", component.sensitivity)
        .field_unless_empty("sensitivity_l2_squared", component.sensitivity_l2_squared)
        .field_unless_empty("inflated", component.inflated)
        .field("lambda", component.lambda)
        .field("grid", component.grid)
        .field("centre", component.centre)
        .field("bound", component.bound)
        .field("coordinates", component.coordinates)
        .field("precision", component.precision)
        .field("adjusted", component.adjusted)
        .field_unless_empty("adjusted_delta", component.adjusted_delta)
        .field_unless_empty("rho", component.rho)
        .field("published", component.published)
        .field("published_note", component.published_note)
        .field("values")
        .values(*drawn++)
        .raw("}");
  });
  return json.take();
}

void parse_components(std::string_view json, std::vector<ComponentRecord>& components,
                      std::vector<std::vector<Rational>>& values) {
  read_json(json, "components", [&](const Json& array) {
    if (!array.is_array()) throw LedgerCorrupt("column components is not an array");
    for (const Json& entry : array) {
      components.push_back(to_component(entry));
      values.push_back(to_rationals(entry.at("values")));
    }
    return true;
  });
}

std::string texts_json(const std::vector<std::string>& texts) {
  JsonWriter json;
  json.array(texts, [&](const std::string& text) { json.text(text); });
  return json.take();
}

std::vector<std::string> parse_texts(std::string_view json) {
  return read_json(json, "cells", [](const Json& array) { return array.get<std::vector<std::string>>(); });
}

std::string rationals_json(const std::vector<Rational>& values) {
  return JsonWriter().values(values).take();
}

std::vector<Rational> parse_rationals(std::string_view json) {
  return read_json(json, "value", [](const Json& array) { return to_rationals(array); });
}

std::string post_processing_json(const PostProcessing& recipe) {
  JsonWriter json;
  json.raw("{").field("kind", name(recipe.kind));
  if (recipe.kind != PostProcessing::Kind::none) {
    if (recipe.kind != PostProcessing::Kind::rounded) json.field("centre", accounting::text(recipe.centre));
    json.field("lower", accounting::text(recipe.lower)).field("upper", accounting::text(recipe.upper));
  }
  return json.raw("}").take();
}

PostProcessing parse_post_processing(std::string_view json) {
  return read_json(json, "post_processing", [](const Json& object) {
    const std::string& wanted = object.at("kind").get_ref<const std::string&>();
    const auto found =
        std::ranges::find_if(kKinds, [&wanted](PostProcessing::Kind kind) { return name(kind) == wanted; });
    if (found == kKinds.end()) {
      throw LedgerCorrupt("column post_processing names an unknown recipe '" + wanted + "'");
    }
    PostProcessing recipe;
    recipe.kind = *found;
    if (recipe.kind == PostProcessing::Kind::none) return recipe;
    if (recipe.kind != PostProcessing::Kind::rounded) recipe.centre = rational(object, "centre");
    recipe.lower = rational(object, "lower");
    recipe.upper = rational(object, "upper");
    return recipe;
  });
}

}  // namespace epsilog::ledger
