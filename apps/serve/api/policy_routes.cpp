// /v1/policy: reading it, comparing another one with it, putting another one in its place.
#include <nlohmann/json.hpp>
#include <utility>

#include "body_object.hpp"
#include "call.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "policy_diff_output.hpp"
#include "problem.hpp"
#include "report_json.hpp"
#include "route.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using engine::Duty;
using wire::Json;

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
    if (!may_see_dataset(caller, name)) continue;
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
      const bool theirs = std::find(by->begin(), by->end(), caller.actor.name) != by->end();
      *by = theirs ? Json::array({caller.actor.name}) : Json::array();
    }
    datasets.push_back(std::move(dataset));
  }
  return datasets;
}

Response read_policy(Call& call) {
  call.wait_for_slot();
  const AccessView& view = *call.caller.view;
  Json object{{"ledger_id", call.context.ledger_id},
              {"version", view.policy_version},
              {"sha256", view.policy_sha256},
              {"applied_at", view.applied_at}};
  if (call.caller.has_duty(Duty::curate) || call.caller.has_duty(Duty::audit)) {
    object["yaml"] = view.policy.yaml();
  } else {
    object["datasets"] = as_it_applies(call.caller, view.implies);
  }
  return with_tag(json_response(200, object), view.policy_sha256);
}

Response diff(Call& call) {
  BodyObject body(call.read_body(kPolicyBodyBytesMax));
  engine::PolicyUpload text;
  text.yaml = body.required_string("yaml");
  body.expect_no_more();
  command::PolicyComparison comparison;
  comparison.later = text.name;
  engine::PolicyReview review = call.engine().review(text);
  comparison.changes = std::move(review.changes);
  comparison.refused = without_paths(std::move(review.refused));
  comparison.removed = std::move(review.removed);
  return json_text_response(200, command::policy_diff_json(comparison));
}

/// What If-Match says the active policy is.
/// Throws  HttpProblem.
std::string expected_sha256(const Call& call) {
  const std::string* tag = call.head.header("if-match");
  if (tag == nullptr) {
    throw HttpProblem(428, "if_match_required",
                      "If-Match: the ETag of the active policy, as it was read, is required");
  }
  const std::string before = '"' + std::string(kSha256);
  if (!tag->starts_with(before) || !tag->ends_with('"') || tag->size() != before.size() + 64 + 1) {
    throw HttpProblem(400, "invalid_etag",
                      "If-Match: \"sha256:\" and 64 hexadecimal digits in quotes are expected");
  }
  return tag->substr(before.size(), 64);
}

Response put_policy(Call& call) {
  const std::string expected = expected_sha256(call);
  BodyObject body(call.read_body(kPolicyBodyBytesMax));
  engine::PolicyUpload text;
  text.yaml = body.required_string("yaml");
  text.expected_sha256 = expected;
  text.acting = call.caller.is_keeper() ? "" : call.caller.actor.name;
  const std::string why = body.string("why").value_or("");
  body.expect_no_more();
  const engine::ApplyReport report = call.engine().apply_policy(text, call.caller.actor.name, why);
  call.context.view.notify_recorded();
  return with_tag(json_text_response(
                      200, wire::policy_apply_json(report, call.context.ledger_id, call.engine().budget(""))),
                  report.policy_sha256);
}

}  // namespace

std::vector<Route> policy_routes() {
  return {{"GET", "/v1/policy", RouteAccess::known, false, {}, &read_policy},
          {"POST", "/v1/policy/diff", RouteAccess::curator, true, {}, &diff},
          {"PUT", "/v1/policy", RouteAccess::curator_socket, true, {}, &put_policy}};
}

}  // namespace epsilog::serve
