// schema/openapi.json against the routes and what they answer.
#include <regex>

#include "openapi_text.hpp"
#include "route.hpp"
#include "served_clinic.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

const json& document() {
  static const json kDocument = json::parse(serve::openapi_text());
  return kDocument;
}

/// Follows references within the document.
const json& resolved(const json& node) {
  const json* at = &node;
  while (at->is_object() && at->contains("$ref")) {
    at = &document().at(json::json_pointer(at->at("$ref").get<std::string>().substr(1)));
  }
  return *at;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::string with_id(std::string_view path, const std::string& id) {
  std::string target(path);
  if (const std::size_t at = target.find("{id}"); at != std::string::npos) target.replace(at, 4, id);
  return target;
}

/// All members that a schema has names for, those of allOf and anyOf too.
void add_members(const json& schema, std::set<std::string>& names) {
  const json& node = resolved(schema);
  if (node.contains("properties")) {
    for (const auto& [name, value] : node.at("properties").items()) names.insert(name);
  }
  for (const char* several : {"allOf", "anyOf", "oneOf"}) {
    if (!node.contains(several)) continue;
    for (const json& one : node.at(several)) add_members(one, names);
  }
}

}  // namespace

TEST_CASE("the document has the routes that there are, each with its parameters and body, and no others",
          "[api][openapi]") {
  std::set<std::pair<std::string, std::string>> documented;
  for (const auto& [path, methods] : document().at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) documented.insert({method, path});
  }
  std::set<std::pair<std::string, std::string>> there;
  std::set<std::string> operations;
  for (const serve::Route& route : serve::routes()) {
    const std::string method = lower(std::string(route.method));
    CAPTURE(method, route.path);
    there.insert({method, std::string(route.path)});
    if (!documented.contains({method, std::string(route.path)})) continue;
    const json& operation = document().at("paths").at(std::string(route.path)).at(method);
    CHECK(operations.insert(operation.at("operationId")).second);
    CHECK(operation.contains("requestBody") == route.takes_body);
    std::set<std::string> parameters;
    for (const json& parameter : operation.value("parameters", json::array())) {
      if (parameter.at("in") == "query") parameters.insert(parameter.at("name"));
    }
    CHECK(parameters == std::set<std::string>(route.parameters.begin(), route.parameters.end()));
  }
  CHECK(documented == there);
}

TEST_CASE("a parameter of the query beyond what the document says is refused, and its least value is taken",
          "[api][openapi]") {
  ServedClinic clinic;
  const std::string id = clinic.ask(kDora, "POST", "/v1/releases", clinic.asks("0.01")).id();
  int bounds = 0;
  for (const serve::Route& route : serve::routes()) {
    const json& operation =
        document().at("paths").at(std::string(route.path)).at(lower(std::string(route.method)));
    for (const json& parameter : operation.value("parameters", json::array())) {
      if (parameter.at("in") != "query") continue;
      const std::string name = parameter.at("name");
      const json& schema = parameter.at("schema");
      const auto answered = [&](const std::string& value) {
        const Reply reply = clinic.ask(kDora, "GET", with_id(route.path, id) + "?" + name + "=" + value);
        UNSCOPED_INFO(route.path << "?" << name << "=" << value << ": " << reply.response.body);
        return reply.status == 400 ? reply.body.at("code").get<std::string>() : "";
      };
      const auto edge = [&](const char* member, int beyond) {
        if (!schema.contains(member)) return;
        ++bounds;
        CHECK(answered(std::to_string(schema.at(member).get<std::int64_t>() + beyond)) == "invalid_query");
      };
      edge("minimum", -1);
      edge("maximum", 1);
      if (schema.contains("minimum"))
        CHECK(answered(std::to_string(schema.at("minimum").get<int>())).empty());
      if (schema.at("type") == "string") CHECK(answered("") == "invalid_query");
    }
  }
  CHECK(bounds == 12);
}

TEST_CASE("HEAD is answered as GET on every route that has it, and as another method on the others",
          "[api][openapi]") {
  ServedClinic clinic;
  static_cast<void>(clinic.sign_checkpoints());
  const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.01")).id();
  std::set<std::string> with_get;
  for (const serve::Route& route : serve::routes()) {
    if (route.method == "GET") with_get.insert(std::string(route.path));
  }
  for (const serve::Route& route : serve::routes()) {
    const std::string target = with_id(route.path, id);
    for (const Role& role : {kRoles[0], kRoles[5], Role{"nobody", kNobody}}) {
      CAPTURE(target, role.name);
      const std::int64_t decisions = clinic.engine->newest_seq();
      const Reply head = clinic.ask(role.uid, "HEAD", target);
      CHECK(clinic.engine->newest_seq() == decisions);
      if (!with_get.contains(std::string(route.path))) {
        CHECK(head.status == 405);
        CHECK(head.header("allow") == route.method);
        continue;
      }
      const Reply get = clinic.ask(role.uid, "GET", target);
      CHECK(head.status == get.status);
      CHECK(head.response.headers == get.response.headers);
      CHECK(head.response.content_type == get.response.content_type);
      // What was answered is counted there.
      if (route.path != "/metrics") CHECK(head.response.body == get.response.body);
      CHECK(clinic.ask(role.uid, "DELETE", target).header("allow").find("GET, HEAD") != std::string::npos);
    }
  }
}

TEST_CASE("every reference of the document leads somewhere, and every component is led to",
          "[api][openapi]") {
  const std::string text(serve::openapi_text());
  const std::regex reference(R"rx("\$ref": ?"#(/components/[a-z]+/([A-Za-z0-9]+))")rx");
  std::set<std::string> used;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), reference); at != std::sregex_iterator();
       ++at) {
    CHECK(document().contains(json::json_pointer((*at)[1].str())));
    used.insert((*at)[1].str());
  }
  for (const char* kind : {"schemas", "responses"}) {
    for (const auto& [name, value] : document().at("components").at(kind).items()) {
      CAPTURE(kind, name);
      CHECK(used.contains("/components/" + std::string(kind) + "/" + name));
    }
  }
}

TEST_CASE("what is answered has a documented status, the media type of it, and documented members",
          "[api][openapi]") {
  ServedClinic clinic;
  const std::string granted = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.01")).id();
  const std::string pending = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
  static_cast<void>(clinic.sign_checkpoints());
  int keys = 0;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/documented_calls.tsv")) {
    const auto filled = [&](std::string text) {
      for (std::size_t at = text.find("KEY"); at != std::string::npos; at = text.find("KEY"))
        text.replace(at, 3, "own" + std::to_string(++keys));
      return text;
    };
    const std::string& method = row.at(1);
    const std::string& route = row.at(2);
    std::string target = row.at(3);
    for (const auto& [name, id] : {std::pair("GRANTED", granted), std::pair("PENDING", pending)}) {
      if (target.find(name) != std::string::npos) target.replace(target.find(name), 7, id);
    }
    const std::string text =
        row.at(4) == "POLICY" ? json{{"yaml", served_policy() + " "}}.dump() : filled(row.at(4));
    if (target.starts_with("/v1/verifications")) {
      REQUIRE(clinic.audits.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(10)));
    }
    const Reply reply = clinic.ask(uid_of(row.at(0)), method, target, text);
    CAPTURE(method, target, reply.status, reply.response.body);
    const json& operation = document().at("paths").at(route).at(lower(method));
    REQUIRE(operation.at("responses").contains(std::to_string(reply.status)));
    const json& response = resolved(operation.at("responses").at(std::to_string(reply.status)));
    const std::string type = reply.response.content_type.substr(0, reply.response.content_type.find(';'));
    REQUIRE(response.at("content").contains(type));
    std::set<std::string> names;
    add_members(response.at("content").at(type).at("schema"), names);
    if (!reply.body.is_object()) continue;
    for (const auto& [name, value] : reply.body.items()) {
      CAPTURE(name);
      CHECK(names.contains(name));
    }
    std::set<std::string> of_several;
    add_members(document().at(json::json_pointer("/components/schemas/ListedDecision")), of_several);
    for (const json& decision : reply.body.value("decisions", json::array())) {
      for (const auto& [name, value] : decision.items()) {
        CAPTURE(name);
        CHECK(of_several.contains(name));
      }
    }
  }
}
