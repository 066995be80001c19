// /v1/policy: reading it, comparing another one with it, putting another one in its place.
#include <nlohmann/json.hpp>
#include <utility>

#include "body_object.hpp"
#include "call.hpp"
#include "policy_diff_output.hpp"
#include "problem.hpp"
#include "report_json.hpp"
#include "route.hpp"
#include "sight.hpp"
#include "without_paths.hpp"

namespace epsilog::serve {
namespace {

using command::Json;
using engine::Duty;

constexpr std::string_view kSha256 = "sha256:";

Response with_tag(Response response, const std::string& sha256) {
  response.headers.push_back({"etag", '"' + std::string(kSha256) + sha256 + '"'});
  return response;
}

/// Whether a rule that names who it is about is about this principal.
bool concerns(const Json& rule, const engine::Principal& principal) {
  const auto names = [&](const char* key, const auto& is_theirs) {
    const auto list = rule.find(key);
    if (list == rule.end()) return true;
    return std::any_of(list->begin(), list->end(), is_theirs);
  };
  return names("principals", [&](const Json& name) { return name == principal.name; }) &&
         names("roles", [&](const Json& role) {
           const auto& roles = principal.roles;
           return std::find(roles.begin(), roles.end(), role.get<std::string>()) != roles.end();
         });
}

/// What the policy means for who may only ask: datasets they may ask, without where the data are, who else
/// may and what others may spend. Budgets have a route of their own.
Json as_it_applies(const Caller& caller, const std::string& implies) {
  const Json whole = Json::parse(implies);
  Json datasets = Json::array();
  for (const Json& one : whole.at("datasets")) {
    const std::string name = one.at("name");
    if (!knows(caller, name)) continue;
    Json dataset = one;
    for (const char* hidden : {"accounts", "source"}) dataset.erase(hidden);
    for (const char* key : {"allow", "approvals"}) {
      if (!dataset.contains(key)) continue;
      for (const char* hidden : {"principals", "roles", "by"}) {
        if (key != std::string_view("allow") || hidden != std::string_view("by")) dataset[key].erase(hidden);
      }
    }
    Json rules = Json::array();
    for (Json rule : dataset.value("forbid", Json::array())) {
      if (!concerns(rule, *caller.principal)) continue;
      for (const char* hidden : {"principals", "roles"}) rule.erase(hidden);
      rules.push_back(std::move(rule));
    }
    dataset["forbid"] = std::move(rules);
    // Who supplies a value is told that they do, and nobody who else does.
    for (Json& query : dataset["queries"]) {
      const auto by = query.find("supplied_by");
      if (by == query.end()) continue;
      const bool theirs = std::find(by->begin(), by->end(), caller.who.name) != by->end();
      *by = theirs ? Json::array({caller.who.name}) : Json::array();
    }
    datasets.push_back(std::move(dataset));
  }
  return datasets;
}

Response read_policy(Call& call) {
  call.run();
  const View& view = *call.caller.view;
  Json object{{"ledger_id", call.parts.ledger_id},
              {"version", view.policy_version},
              {"sha256", view.policy_sha256},
              {"applied_at", view.applied_at}};
  if (call.caller.has(Duty::curate) || call.caller.has(Duty::audit)) {
    object["yaml"] = view.policy.yaml();
  } else {
    object["datasets"] = as_it_applies(call.caller, view.implies);
  }
  return with_tag(json(200, object), view.policy_sha256);
}

Response diff(Call& call) {
  BodyObject body(call.read_body(kPolicyBody));
  engine::OfferedPolicy text;
  text.yaml = body.required_string("yaml");
  body.expect_no_more();
  command::PolicyComparison comparison;
  comparison.later = text.name;
  comparison.changes = call.engine().changes_to(text);
  comparison.refused = without_paths(call.engine().apply_faults(text));
  comparison.removed = call.engine().removed_by(text);
  return json_text(200, command::policy_diff_json(comparison));
}

/// What If-Match says the active policy is. Throws  Refused.
std::string expected_sha256(const Call& call) {
  const std::string* tag = call.head.header("if-match");
  if (tag == nullptr) {
    throw Refused(428, "if_match_required",
                  "If-Match: the ETag of the active policy, as it was read, is required");
  }
  const std::string before = '"' + std::string(kSha256);
  if (!tag->starts_with(before) || !tag->ends_with('"') || tag->size() != before.size() + 64 + 1) {
    throw Refused(400, "bad_tag", "If-Match: \"sha256:\" and 64 hexadecimal digits in quotes are expected");
  }
  return tag->substr(before.size(), 64);
}

Response put(Call& call) {
  const std::string expected = expected_sha256(call);
  BodyObject body(call.read_body(kPolicyBody));
  engine::OfferedPolicy text;
  text.yaml = body.required_string("yaml");
  text.expected_sha256 = expected;
  text.acting = call.caller.keeper() ? "" : call.caller.who.name;
  const std::string why = body.string("why").value_or("");
  body.expect_no_more();
  const engine::ApplyReport report = call.engine().apply_policy(text, call.caller.who.name, why);
  call.parts.view.recorded();
  return with_tag(
      json_text(200, command::policy_apply_json(report, call.parts.ledger_id, call.engine().budget(""))),
      report.policy_sha256);
}

}  // namespace

std::vector<Route> policy_routes() {
  return {{"GET", "/v1/policy", Who::known, false, {}, &read_policy},
          {"POST", "/v1/policy/diff", Who::curator, true, {}, &diff},
          {"PUT", "/v1/policy", Who::curator_socket, true, {}, &put}};
}

}  // namespace epsilog::serve
