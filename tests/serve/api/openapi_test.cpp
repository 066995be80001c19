// schema/openapi.json against the routes and what they answer.
#include <regex>
#include <set>

#include "openapi_text.hpp"
#include "route.hpp"
#include "served_clinic.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using nlohmann::json;

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
  struct Case {
    std::uint32_t uid;
    const char* method;
    const char* route;
    std::string target;
    std::string text;
  };
  const std::vector<Case> cases = {
      {kAlice, "GET", "/v1/me", "/v1/me", ""},
      {kAlice, "GET", "/v1/budgets", "/v1/budgets", ""},
      {kDora, "GET", "/v1/decisions", "/v1/decisions?limit=2", ""},
      {kDora, "GET", "/v1/events", "/v1/events?after=0", ""},
      {kBob, "GET", "/v1/pending", "/v1/pending", ""},
      {kAlice, "GET", "/v1/requests/{id}", "/v1/requests/" + granted, ""},
      {kAdam, "GET", "/v1/requests/{id}", "/v1/requests/" + granted, ""},
      {kAlice, "GET", "/v1/decisions/{id}", "/v1/decisions/" + pending, ""},
      {kAlice, "GET", "/v1/policy", "/v1/policy", ""},
      {kCarol, "GET", "/v1/policy", "/v1/policy", ""},
      {kCarol, "POST", "/v1/policy/diff", "/v1/policy/diff", json{{"yaml", served_policy() + " "}}.dump()},
      {kCarol, "POST", "/v1/policy/diff", "/v1/policy/diff", json{{"yaml", "version: 2"}}.dump()},
      {kAlice, "POST", "/v1/plans", "/v1/plans", clinic.asks("0.01", "mean:cost")},
      {kAlice, "POST", "/v1/plans", "/v1/plans", clinic.asks("0.01", "mean:cost", R"(,"assume_count":500)")},
      {kAlice, "POST", "/v1/plans", "/v1/plans", "{"},
      {kAlice, "POST", "/v1/forecasts", "/v1/forecasts",
       R"({"dataset":"clinic","statistic":"count","count":3})"},
      {kAlice, "POST", "/v1/forecasts", "/v1/forecasts",
       R"({"dataset":"clinic","statistic":"mean:cost","accuracy":90,"assume_count":5000})"},
      {kAlice, "POST", "/v1/releases", "/v1/releases", clinic.asks("0.01", "count", R"(,"by":"ward")")},
      {kAlice, "POST", "/v1/releases", "/v1/releases", clinic.asks("1000")},
      {kAlice, "POST", "/v1/releases", "/v1/releases", clinic.asks("0.7")},
      {kAlice, "POST", "/v1/releases", "/v1/releases",
       R"({"requests":[)" + clinic.asks("0.01") + "," + clinic.asks("1000") + "," + clinic.asks("0.7") +
           "]}"},
      {kAlice, "POST", "/v1/reservations", "/v1/reservations", clinic.asks("0.01")},
      {kAlice, "GET", "/v1/proofs/{id}", "/v1/proofs/" + pending, ""},
      {kAlice, "POST", "/v1/releases", "/v1/releases", clinic.asks("0.01")},
      {kAlice, "POST", "/v1/checkpoints", "/v1/checkpoints", ""},
      {kOtto, "POST", "/v1/checkpoints", "/v1/checkpoints", ""},
      {kOtto, "POST", "/v1/checkpoints", "/v1/checkpoints", "{}"},
      {kAlice, "GET", "/v1/checkpoints", "/v1/checkpoints", ""},
      {kAlice, "GET", "/v1/proofs/{id}", "/v1/proofs/" + granted, ""},
      {kCarol, "GET", "/v1/proofs/{id}", "/v1/proofs/" + granted, ""},
      {kAdam, "GET", "/v1/proofs/{id}", "/v1/proofs/" + granted, ""},
      {kDora, "POST", "/v1/verifications", "/v1/verifications", R"({"storage":"none"})"},
      {kAlice, "POST", "/v1/verifications", "/v1/verifications", ""},
      {kDora, "GET", "/v1/verifications/{id}", "/v1/verifications/none", ""},
      {kDora, "POST", "/v1/verifications/{id}/cancel", "/v1/verifications/none/cancel", ""},
      {kDora, "POST", "/v1/reaccounts", "/v1/reaccounts", R"({"dataset":"clinic","accountant":"pure"})"},
      {kDora, "POST", "/v1/reaccounts", "/v1/reaccounts", R"({"dataset":"none"})"},
      {kNobody, "GET", "/healthz", "/healthz", ""},
      {kNobody, "GET", "/v1/me", "/v1/me", ""},
      {kOtto, "GET", "/metrics", "/metrics", ""},
  };
  for (const Case& one : cases) {
    if (one.target.starts_with("/v1/verifications")) {
      REQUIRE(clinic.audits.idle(std::chrono::steady_clock::now() + std::chrono::seconds(10)));
    }
    const Reply reply = clinic.ask(one.uid, one.method, one.target, one.text);
    CAPTURE(one.method, one.target, reply.status, reply.response.body);
    const json& operation = document().at("paths").at(one.route).at(lower(one.method));
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
    add_members(document().at(json::json_pointer("/components/schemas/BatchDecision")), of_several);
    for (const json& decision : reply.body.value("decisions", json::array())) {
      for (const auto& [name, value] : decision.items()) {
        CAPTURE(name);
        CHECK(of_several.contains(name));
      }
    }
  }
}
