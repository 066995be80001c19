// schema/policy.schema.json and the decoder say the same: the same keys and words, place by place,
// and the same verdict on every policy that breaks no rule between keys.
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "file_text.hpp"
#include "invalid_policies.hpp"
#include "policy_faults.hpp"
#include "policy_key_changes.hpp"
#include "policy_keys.hpp"
#include "policy_text.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "yaml_tree.hpp"

using namespace epsilog::test;
using namespace epsilog;
using namespace epsilog::engine;
using nlohmann::json;

namespace {

const std::filesystem::path kSource = EPSILOG_SOURCE_DIR;
const std::filesystem::path kCases = kSource / "tests/engine/policy";

const json& schema_json() {
  static const json kSchema = json::parse(file_text(kSource / "schema" / "policy.schema.json"));
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
std::set<std::string> beyond_the_schema() {
  std::set<std::string> names;
  for (const auto& row : case_table(kCases / "beyond_the_schema.tsv")) names.insert(row.at(0));
  return names;
}

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
    const std::string yaml = file_text(entry.path());
    CHECK(decoder_accepts(yaml));
    REQUIRE(as_json(yaml).has_value());
    CHECK(schema_accepts(*as_json(yaml)));
  }
}

TEST_CASE("policy schema: an invalid policy is invalid under both, unless a rule between keys is broken",
          "[engine][policy][schema][negative]") {
  std::set<std::string> beyond;
  int refused_by_both = 0;
  for (const auto& [name, policy] : invalid_policies()) {
    const std::optional<json> document = as_json(policy.yaml);
    if (!document) continue;
    CAPTURE(name);
    CHECK_FALSE(decoder_accepts(policy.yaml));
    if (schema_accepts(*document)) {
      beyond.insert(name);
    } else {
      ++refused_by_both;
    }
  }
  CHECK(beyond == beyond_the_schema());
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
  const std::map<std::string, std::string PolicyText::*> parts = {
      {"budget", &PolicyText::budget},        {"rows", &PolicyText::rows},       {"unit", &PolicyText::unit},
      {"source", &PolicyText::source},        {"columns", &PolicyText::columns}, {"more", &PolicyText::more},
      {"principals", &PolicyText::principals}};
  for (const auto& row : case_table(kCases / "single_values.tsv")) {
    PolicyText text;
    text.*parts.at(row.at(0)) = row.at(1);
    const bool accepted = row.at(2) == "accepted";
    CAPTURE(row);
    CHECK(decoder_accepts(text.yaml()) == accepted);
    REQUIRE(as_json(text.yaml()).has_value());
    CHECK(schema_accepts(*as_json(text.yaml())) == accepted);
  }
}
