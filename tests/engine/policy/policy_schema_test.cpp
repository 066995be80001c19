// schema/policy.schema.json and the decoder say the same: the same keys and words, place by place,
// and the same verdict on every policy that breaks no rule between keys.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "policy_faults.hpp"
#include "policy_key_changes.hpp"
#include "policy_keys.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"
#include "yaml_tree.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using epsilog::test::PolicyText;
using nlohmann::json;

namespace {

const std::filesystem::path kSource = EPSILOG_SOURCE_DIR;

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const json& schema_json() {
  static const json kSchema = json::parse(content(kSource / "schema" / "policy.schema.json"));
  return kSchema;
}

/// The definition of that name; "" is the whole schema.
const json& definition(std::string_view name) {
  return name.empty() ? schema_json() : schema_json().at("definitions").at(std::string(name));
}

bool schema_accepts(const json& document) {
  static const valijson::Schema& kSchema = []() -> const valijson::Schema& {
    static valijson::Schema schema;
    valijson::SchemaParser parser;
    const valijson::adapters::NlohmannJsonAdapter adapter(schema_json());
    parser.populateSchema(adapter, schema);
    return schema;
  }();
  valijson::Validator validator;
  const valijson::adapters::NlohmannJsonAdapter target(document);
  return validator.validate(kSchema, target, nullptr);
}

/// As an editor resolves plain scalars (YAML 1.2, core schema): true, false and JSON numbers.
json resolved(const yaml::Node& node) {
  if (node.kind == yaml::Node::Kind::sequence) {
    json list = json::array();
    for (const yaml::Node& item : node.items) list.push_back(resolved(item));
    return list;
  }
  if (node.kind == yaml::Node::Kind::map) {
    json map = json::object();
    for (const yaml::Entry& entry : node.entries) map[entry.key] = resolved(entry.value);
    return map;
  }
  if (!node.quoted && (node.text == "true" || node.text == "false")) return node.text == "true";
  const json number = json::parse(node.text, nullptr, false);
  return !node.quoted && number.is_number() ? number : json(node.text);
}

/// nullopt when the text already breaks a rule of the YAML reader, of which a schema knows nothing.
std::optional<json> as_json(const std::string& yaml) {
  Faults faults("p.yaml");
  try {
    const yaml::Node root = yaml::read(yaml, faults);
    if (faults.none()) return resolved(root);
  } catch (const PolicyError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

bool decoder_accepts(const std::string& yaml) {
  return epsilog::test::faults_of(yaml).empty();
}

/// The invalid policies whose mistake is a relation between keys, a calendar or the size of a
/// number: what a JSON Schema cannot say.
const std::set<std::string> kBeyondTheSchema = {"accept_unbounded_with_lifetime",
                                                "allow_by_without_values",
                                                "allow_principals_without_principals",
                                                "allow_roles_without_principals",
                                                "allow_unknown_column",
                                                "allow_unknown_principal",
                                                "allow_unknown_role",
                                                "approvals_expire_at_once",
                                                "approvals_nobody_can_give",
                                                "approvals_without_principals",
                                                "binding_probability_beside_inherited_mechanism",
                                                "bins_between_whole_numbers",
                                                "bins_descending",
                                                "bins_finer_than_scale",
                                                "bins_of_a_date",
                                                "bins_of_texts",
                                                "bins_with_an_edge_twice",
                                                "blocks_of_a_date_without_periods",
                                                "blocks_of_a_derived_column_with_periods",
                                                "blocks_of_undeclared_values",
                                                "blocks_periods_of_values",
                                                "blocks_range_inverted",
                                                "blocks_spelled_as_another_period",
                                                "blocks_too_many",
                                                "blocks_unknown_column",
                                                "blocks_week_not_in_the_year",
                                                "bound_too_large_for_precision",
                                                "bounds_of_a_date_inverted",
                                                "bounds_finer_than_scale",
                                                "budget_below_the_grid",
                                                "budget_too_large",
                                                "checkpoint_every_second",
                                                "checkpoint_into_its_state",
                                                "checkpoint_into_the_replica",
                                                "column_header_with_a_control_character",
                                                "date_not_in_the_calendar",
                                                "date_outside_bounds",
                                                "delimiter_equals_decimal",
                                                "derived_from_a_derived_column",
                                                "derived_from_an_unknown_column",
                                                "derived_from_itself",
                                                "division_by_zero",
                                                "equal_bounds",
                                                "exact_rows_with_add_remove",
                                                "exact_rows_without_constant",
                                                "exponent_too_large",
                                                "forbid_by_without_values",
                                                "forbid_purposes_without_purposes",
                                                "forbid_roles_without_principals",
                                                "forbid_unknown_column",
                                                "forbid_unknown_principal",
                                                "grid_not_a_power_of_two",
                                                "grid_without_a_mechanism",
                                                "int_with_fractional_bounds",
                                                "inverted_bounds",
                                                "limit_of_a_principal_without_principals",
                                                "limit_of_a_purpose_without_purposes",
                                                "limit_of_an_undeclared_principal",
                                                "limit_of_an_undeclared_purpose",
                                                "limit_of_an_undeclared_role",
                                                "limit_of_each_purpose_without_purposes",
                                                "limit_of_each_role_without_principals",
                                                "limit_of_each_twice",
                                                "limit_twice",
                                                "map_of_a_decimal",
                                                "map_of_a_fraction",
                                                "map_of_a_text_as_a_number",
                                                "map_of_a_truth_spelled_yes",
                                                "map_of_a_value_listed_as_null",
                                                "map_of_a_value_twice",
                                                "map_of_no_day",
                                                "max_rows_above_exact_rows",
                                                "missing_finer_than_scale",
                                                "missing_outside_bounds",
                                                "missing_without_bounds",
                                                "periods_inverted",
                                                "periods_of_a_number",
                                                "periods_of_another_kind",
                                                "periods_too_many",
                                                "precision_with_exact",
                                                "principal_name_with_a_control_character",
                                                "principal_purpose_of_no_dataset",
                                                "query_supplied_by_a_stranger",
                                                "query_supplied_by_without_principals",
                                                "query_undefined_outside_bounds",
                                                "null_text_listed_twice",
                                                "null_text_of_a_declared_date",
                                                "per_release_order_of_one",
                                                "rdp_order_leaves_nothing",
                                                "rdp_order_of_one",
                                                "rdp_order_too_fine",
                                                "rdp_order_twice",
                                                "release_of_an_unknown_statistic",
                                                "reservations_too_long",
                                                "rho_below_the_grid",
                                                "rho_derived_below_the_grid",
                                                "rho_derived_too_large",
                                                "thousands_equals_decimal",
                                                "thousands_equals_delimiter",
                                                "unit_of_a_derived_column",
                                                "value_listed_as_null",
                                                "value_listed_twice",
                                                "value_outside_bounds",
                                                "step_beyond_the_bounds",
                                                "step_finer_than_scale",
                                                "step_too_fine"};

}  // namespace

TEST_CASE("policy schema: keys and required keys equal the decoder's, place by place",
          "[engine][policy][schema]") {
  std::set<std::string> described;
  for (const auto& [name, text] : schema_json().at("definitions").items()) {
    if (text.contains("properties")) described.insert(name);
  }
  described.insert("");  // the root
  std::set<std::string> decoded;
  for (const KeyTable* table : keys::tables()) {
    const std::string name(table->definition);
    CAPTURE(name);
    decoded.insert(name);
    const json& place = definition(name);
    std::set<std::string> properties, required, keys, required_keys;
    for (const auto& item : place.at("properties").items()) properties.insert(item.key());
    for (const json& key : place.value("required", json::array())) required.insert(key.get<std::string>());
    for (const Key& key : table->keys) {
      keys.emplace(key.name);
      if (key.required) required_keys.emplace(key.name);
    }
    CHECK(properties == keys);
    CHECK(required == required_keys);
    CHECK(place.at("additionalProperties") == false);
  }
  CHECK(described == decoded);
}

TEST_CASE("policy schema: words equal the decoder's", "[engine][policy][schema]") {
  for (const Vocabulary* vocabulary : keys::vocabularies()) {
    CAPTURE(std::string(vocabulary->definition));
    CHECK(definition(vocabulary->definition).at("enum") == json(vocabulary->words));
  }
}

TEST_CASE("policy schema: every place an editor shows has a title", "[engine][policy][schema]") {
  for (const auto& [name, text] : schema_json().at("definitions").items()) {
    CAPTURE(name);
    CHECK(text.contains("title"));
    const json properties = text.value("properties", json::object());
    for (const auto& [key, value] : properties.items()) {
      CAPTURE(key);
      CHECK((value.contains("title") || value.contains("$ref")));
    }
  }
}

TEST_CASE("policy schema: the shipped policies are valid under both", "[engine][policy][schema]") {
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().filename().string());
    const std::string yaml = content(entry.path());
    CHECK(decoder_accepts(yaml));
    REQUIRE(as_json(yaml).has_value());
    CHECK(schema_accepts(*as_json(yaml)));
  }
}

TEST_CASE("policy schema: an invalid policy is invalid under both, unless a rule between keys is broken",
          "[engine][policy][schema][negative]") {
  std::set<std::string> beyond;
  int refused_by_both = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "configs" / "invalid")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string yaml = content(entry.path());
    const std::optional<json> document = as_json(yaml);
    if (!document) continue;
    CAPTURE(entry.path().stem().string());
    CHECK_FALSE(decoder_accepts(yaml));
    if (schema_accepts(*document)) {
      beyond.insert(entry.path().stem().string());
    } else {
      ++refused_by_both;
    }
  }
  CHECK(beyond == kBeyondTheSchema);
  CHECK(refused_by_both >= 40);
}

namespace {

void collect_scalars(const yaml::Node& node, std::vector<const yaml::Node*>& scalars) {
  if (node.kind == yaml::Node::Kind::scalar) scalars.push_back(&node);
  for (const yaml::Node& item : node.items) collect_scalars(item, scalars);
  for (const yaml::Entry& entry : node.entries) collect_scalars(entry.value, scalars);
}

/// The text with what stands at the scalar written otherwise.
std::string rewritten(const std::string& yaml, const yaml::Node& scalar, const std::string& value) {
  std::size_t at = 0;
  for (int line = 1; line < scalar.mark.line; ++line) at = yaml.find('\n', at) + 1;
  at += static_cast<std::size_t>(scalar.mark.column) - 1;
  const std::size_t quotes = scalar.quoted ? 2 : 0;
  return yaml.substr(0, at) + value + yaml.substr(at + scalar.text.size() + quotes);
}

/// Writes each scalar otherwise in each of these ways; returns how many texts no verdict differs on.
int count_of_agreeing(const std::string& policy, const std::vector<std::string>& values) {
  Faults faults("p.yaml");
  const yaml::Node root = yaml::read(policy, faults);
  std::vector<const yaml::Node*> scalars;
  collect_scalars(root, scalars);
  int agreeing = 0;
  for (const yaml::Node* scalar : scalars) {
    for (const std::string& value : values) {
      const std::string yaml = rewritten(policy, *scalar, value);
      const std::optional<json> document = as_json(yaml);
      const bool differ = document && decoder_accepts(yaml) && !schema_accepts(*document);
      if (differ) FAIL_CHECK(scalar->text + " -> " + value);
      agreeing += differ ? 0 : 1;
    }
  }
  return agreeing;
}

}  // namespace

TEST_CASE("policy schema: what the decoder accepts in place of any value the schema accepts too",
          "[engine][policy][schema]") {
  CHECK(count_of_agreeing(epsilog::test::kEveryKey, {"99", "-1", "true"}) > 200);
  for (const char* texts : {"[99, -1]", "[true, 1.5]", "['99', 99.0]", "[9, 9.0]"}) {
    const std::string yaml = PolicyText{.source = std::string("{csv: v.csv, null: ") + texts + "}"}.yaml();
    CAPTURE(yaml);
    CHECK(decoder_accepts(yaml));
    CHECK(schema_accepts(*as_json(yaml)));
  }
}

TEST_CASE("policy schema: what the decoder accepts in place of any value of any key the schema accepts too",
          "[engine][policy][schema][.long]") {
  std::set<std::string> policies;
  for (const auto& [place, change] : epsilog::test::key_changes()) {
    policies.insert(epsilog::test::before_and_after(change).before);
    policies.insert(epsilog::test::before_and_after(change).after);
  }
  for (const std::string& policy : policies) {
    CHECK(count_of_agreeing(policy, {"99", "-1", "0.5", "true", "'7'", "2024-01-31", "word", "[99, -1]"}) >
          600);
  }
}

TEST_CASE("policy schema: the decoder and the schema agree on single values", "[engine][policy][schema]") {
  struct Case {
    std::string PolicyText::*part;
    std::string value;
    bool accepted;
  };
  const Case cases[] = {
      {&PolicyText::budget, "{epsilon: 1/3}", true},
      {&PolicyText::budget, "{epsilon: '1e-6'}", true},
      {&PolicyText::budget, "{epsilon: 0.5, delta: 1/1000}", true},
      {&PolicyText::budget, "{epsilon: 0.5, delta: 1e-9}", true},
      {&PolicyText::budget, "{epsilon: 0.5, delta: 2}", false},
      {&PolicyText::budget, "{epsilon: [1]}", false},
      {&PolicyText::budget, "[epsilon]", false},
      {&PolicyText::rows, "{max: '1000'}", true},
      {&PolicyText::rows, "{max: 1.5}", false},
      {&PolicyText::rows, "{max: 0}", false},
      {&PolicyText::unit, "row", true},
      {&PolicyText::unit, "rows", false},
      {&PolicyText::unit, "{id: 'patient id', max_rows: 3}", true},
      {&PolicyText::unit, "{id: '', max_rows: 3}", false},
      {&PolicyText::source, "{csv: x.csv, encoding: latin-1, thousands: ' ', date_format: MM/DD/YYYY}", true},
      {&PolicyText::source, "{csv: x.csv, thousands: \"\\u2019\"}", true},
      {&PolicyText::source, "{csv: x.csv, thousands: '  '}", false},
      {&PolicyText::source, "{csv: x.csv, thousands: ''}", false},
      {&PolicyText::source, "{csv: x.csv, encoding: UTF-8}", false},
      {&PolicyText::source, "{csv: x.csv, date_format: [DD.MM.YYYY]}", false},
      {&PolicyText::source, "{sqlite: x.db, table: t, date_format: DD.MM.YYYY}", false},
      {&PolicyText::columns, "{a: {column: 'Größe (m²)', type: double}}", true},
      {&PolicyText::columns, "{a: {column: '', type: double}}", false},
      {&PolicyText::columns, "{a: {column: {b: c}, type: double}}", false},
      {&PolicyText::source, "{csv: x.csv, delimiter: '|'}", true},
      {&PolicyText::source, "{csv: x.csv, delimiter: '['}", true},
      {&PolicyText::source, "{csv: x.csv, delimiter: ']'}", true},
      {&PolicyText::source, "{csv: x.csv, delimiter: \"\\t\"}", true},
      {&PolicyText::source, "{csv: x.csv, delimiter: ' '}", false},
      {&PolicyText::source, "{csv: x.csv, delimiter: ';;'}", false},
      {&PolicyText::source, "{csv: ''}", false},
      {&PolicyText::source, "{sqlite: x.db, table: t}", true},
      {&PolicyText::source, "{table: t}", false},
      {&PolicyText::source, "{}", false},
      {&PolicyText::columns, "{}", true},
      {&PolicyText::columns, "{True: {type: bool}}", false},
      {&PolicyText::columns, "{a: {type: decimal, scale: 0, bounds: [-2, 2], missing: -1}}", true},
      {&PolicyText::columns, "{a: {type: double, bounds: [-1/3, 1e300]}}", true},
      {&PolicyText::columns, "{a: {type: double, bounds: [0, 1], step: 1/100}}", true},
      {&PolicyText::columns, "{a: {type: int, bounds: [0, 110], step: 5}}", true},
      {&PolicyText::columns, "{a: {type: int, bounds: [0, 110], step: 0}}", false},
      {&PolicyText::columns, "{a: {type: int, bounds: [0, 110], step: auto}}", false},
      {&PolicyText::columns, "{a: {type: date, step: 1}}", false},
      {&PolicyText::columns, "{a: {type: date, missing: skip}}", true},
      {&PolicyText::columns, "{a: {type: bool, values: [true]}}", true},
      {&PolicyText::columns, "{a: {type: bool, values: ['true']}}", false},
      {&PolicyText::columns, "{a: {type: int, bounds: {lower: 0, upper: 1}}}", false},
      {&PolicyText::columns, "{a: {type: int, bounds: [0, 1, 2]}}", false},
      {&PolicyText::more, "mean_split: 2/3", true},
      {&PolicyText::more, "mean_split: 0", false},
      {&PolicyText::more, "release: {count: {bound: 1e3, precision: 4096}}", true},
      {&PolicyText::more, "release: {count: {precision: 4097}}", false},
      {&PolicyText::more, "release: {count: {precision: double}}", false},
      {&PolicyText::more, "release: {count: {mechanism: discrete_laplace, grid: auto}}", true},
      {&PolicyText::more, "release: {count: {mechanism: discrete_laplace, grid: 1/1024}}", true},
      {&PolicyText::more, "release: {count: {mechanism: gaussian, grid: 0.25}}", true},
      {&PolicyText::more, "release: {count: {mechanism: discrete_gaussian, grid: '8'}}", true},
      {&PolicyText::more, "release: {count: {mechanism: discrete_gaussian, grid: -1}}", false},
      {&PolicyText::more, "release: {count: {mechanism: discrete_gaussian, grid: [1]}}", false},
      {&PolicyText::more, "release: {count: {mechanism: discrete-gaussian}}", false},
      {&PolicyText::more, "release: {count: {mechanism: snapping, precision: 128}}", true},
      {&PolicyText::more, "release: {histogram: {bound: 3}}", false},
      {&PolicyText::more, "release: {quantile: {mechanism: auto}}", true},
      {&PolicyText::more, "release: {quantile: {mechanism: exponential}}", true},
      {&PolicyText::more, "release: {quantile: {}}", true},
      {&PolicyText::more, "release: {quantile: {mechanism: snapping}}", false},
      {&PolicyText::more, "release: {quantile: {bound: 3}}", false},
      {&PolicyText::more, "release: {count_of: {bound: 3}, proportion: {mechanism: gaussian}, distinct: {}}",
       true},
      {&PolicyText::more, "allow: {statistics: [count_of, proportion, distinct]}", true},
      {&PolicyText::more, "allow: {statistics: [private_variance, ratio]}", true},
      {&PolicyText::more, "forbid: [{statistics: [private_variance]}]", true},
      {&PolicyText::more, "release: {ratio: {mechanism: gaussian}}", true},
      {&PolicyText::more, "release: {private_variance: {mechanism: gaussian}}", false},
      {&PolicyText::more, "forbid: [{statistics: [count_of]}]", true},
      {&PolicyText::more, "allow: {statistics: ['count:age']}", false},
      {&PolicyText::more, "release: {value: {bound: 3}}", false},
      {&PolicyText::budget, "{measure: zcdp, rho: 1/2}", true},
      {&PolicyText::budget, "{measure: zcdp, epsilon: 3, delta: 1e-6}", true},
      {&PolicyText::budget, "{measure: zcdp, epsilon: 3}", false},
      {&PolicyText::budget, "{measure: zcdp, rho: 1, delta: 1e-6}", false},
      {&PolicyText::budget, "{measure: zcdp, rho: 1, order: 2}", false},
      {&PolicyText::budget, "{measure: zcdp, rho: -1}", false},
      {&PolicyText::budget, "{measure: zcdp}", false},
      {&PolicyText::budget, "{rho: 1}", false},
      {&PolicyText::budget, "{epsilon: 1, rho: 1}", false},
      {&PolicyText::budget, "{epsilon: 1, order: 8}", false},
      {&PolicyText::budget, "{measure: approximate, epsilon: 1, delta: 1e-6}", true},
      {&PolicyText::budget, "{measure: approximate, epsilon: 1}", false},
      {&PolicyText::budget, "{measure: pure, epsilon: 1, delta: 1e-6}", false},
      {&PolicyText::budget, "{measure: rdp, orders: {2: 0.5, '8': '1.5', 5/2: 1, 1.5: 2}}", true},
      {&PolicyText::budget, "{measure: rdp, order: 8, epsilon: 3, delta: 1e-6}", true},
      {&PolicyText::budget, "{measure: rdp, order: 17/2, epsilon: 3, delta: 1e-6}", true},
      {&PolicyText::budget, "{measure: rdp, order: 8, epsilon: 3}", false},
      {&PolicyText::budget, "{measure: rdp, order: 1, epsilon: 3, delta: 1e-6}", false},
      {&PolicyText::budget, "{measure: rdp, order: 1000001, epsilon: 3, delta: 1e-6}", false},
      {&PolicyText::budget, "{measure: rdp, order: 8, orders: {8: 1}}", false},
      {&PolicyText::budget, "{measure: rdp, orders: {}}", false},
      {&PolicyText::budget, "{measure: rdp, orders: {0.5: 1}}", false},
      {&PolicyText::budget, "{measure: rdp, orders: {two: 1}}", false},
      {&PolicyText::budget, "{measure: rdp, orders: [2, 8]}", false},
      {&PolicyText::budget, "{measure: rdp}", false},
      {&PolicyText::budget, "{measure: rdp, orders: {2: 1}, rho: 1}", false},
      {&PolicyText::budget, "{epsilon: 1, renew: month, accept_unbounded_lifetime: true}", true},
      {&PolicyText::budget, "{epsilon: 1, renew: month, accept_unbounded_lifetime: 'true'}", false},
      {&PolicyText::budget, "{epsilon: 1, renew: monthly, accept_unbounded_lifetime: true}", false},
      {&PolicyText::budget, "{epsilon: 1, accept_unbounded_lifetime: true}", false},
      {&PolicyText::more, "lifetime: {measure: zcdp, epsilon: 1, delta: 1/1000}", true},
      {&PolicyText::budget, "{epsilon: 1, renew: month}", false},
      {&PolicyText::budget, "{epsilon: 1, renew: month, accept_unbounded_lifetime: false}", false},
      {&PolicyText::more, "lifetime: {epsilon: 1, renew: month}", false},
      {&PolicyText::more, "lifetime: {epsilon: 1}\n    blocks: {by: ward}", true},
      {&PolicyText::more, "blocks: {by: ward}", false},
      {&PolicyText::more, "lifetime: {epsilon: 1}\n    blocks: {by: ward, per: month}", false},
      {&PolicyText::more, "lifetime: {epsilon: 1}\n    blocks: {by: [ward]}", false},
      {&PolicyText::more, "lifetime: {}", false},
      {&PolicyText::more, "limits: [{each: principal, epsilon: 1}]", true},
      {&PolicyText::more, "limits: [{each: principals, epsilon: 1}]", false},
      {&PolicyText::more, "limits: [{each: principal}]", false},
      {&PolicyText::more, "limits: [{epsilon: 1}]", false},
      {&PolicyText::more, "limits: {each: principal, epsilon: 1}", false},
      {&PolicyText::more, "purposes: [planning]", true},
      {&PolicyText::more, "purposes: []", false},
      {&PolicyText::more, "purposes: [planning, planning]", false},
      {&PolicyText::more, "purposes: ['quality control']", false},
      {&PolicyText::more, "forbid: []", true},
      {&PolicyText::more, "forbid: [{statistics: [sum], where: [age], by: [ward]}]", true},
      {&PolicyText::more, "forbid: [{principals: [mallory]}]", true},
      {&PolicyText::more, "forbid: [{}]", false},
      {&PolicyText::more, "forbid: [{columns: []}]", false},
      {&PolicyText::more, "forbid: {columns: [age]}", false},
      {&PolicyText::more, "forbid: [columns]", false},
      {&PolicyText::more, "reservations: {expires: 90m}", true},
      {&PolicyText::more, "reservations: {expires: 90}", false},
      {&PolicyText::more, "reservations: {}", false},
      {&PolicyText::principals, "{alice: {}}", true},
      {&PolicyText::principals, "{alice: {roles: [research], purposes: []}, \"Jürgen O'Neil\": {}}", true},
      {&PolicyText::principals, "{}", false},
      {&PolicyText::principals, "[alice]", false},
      {&PolicyText::principals, "{alice: [research]}", false},
      {&PolicyText::principals, "{alice: {roles: research}}", false},
      {&PolicyText::principals, "{alice: {duties: [curate, audit, operate]}, bob: {duties: []}}", true},
      {&PolicyText::principals, "{alice: {duties: curate}}", false},
      {&PolicyText::principals, "{alice: {duties: [curate, curate]}}", false},
      {&PolicyText::principals, "{alice: {duties: [rule]}}", false},
      {&PolicyText::principals, "{alice: {roles: ['1st']}}", false},
      {&PolicyText::principals, "{'': {}}", false},
      {&PolicyText::more, "allow: {}", true},
      {&PolicyText::more, "allow: {where: [age], by: []}", true},
      {&PolicyText::more, "allow: {where: age}", false},
  };
  for (const Case& single : cases) {
    PolicyText text;
    text.*single.part = single.value;
    CAPTURE(single.value);
    CHECK(decoder_accepts(text.yaml()) == single.accepted);
    REQUIRE(as_json(text.yaml()).has_value());
    CHECK(schema_accepts(*as_json(text.yaml())) == single.accepted);
  }
}
