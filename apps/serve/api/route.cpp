#include "route.hpp"

#include <utility>

#include "problem.hpp"

namespace epsilog::serve {
namespace {

using engine::Duty;

constexpr std::string_view kId = "{id}";

/// Whether the path is one of the pattern's; `id` is what stands for {id} in it.
bool matches(std::string_view pattern, std::string_view path, std::string& id) {
  const std::size_t at = pattern.find(kId);
  if (at == std::string_view::npos) return pattern == path;
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(at + kId.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
    return false;
  const std::string_view middle = path.substr(before.size(), path.size() - before.size() - after.size());
  if (middle.find('/') != std::string_view::npos) return false;
  id = middle;
  return true;
}

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> all;
    for (auto* part : {&asking_routes, &request_routes, &reading_routes, &policy_routes, &evidence_routes,
                       &audit_routes, &operating_routes}) {
      for (Route& route : part()) all.push_back(std::move(route));
    }
    return all;
  }();
  return kRoutes;
}

void require_access(const Route& route, const Caller& caller) {
  const auto need = [](bool has, const char* code, const char* detail) {
    if (!has) throw HttpProblem(403, code, detail);
  };
  switch (route.access) {
    case RouteAccess::everybody:
    case RouteAccess::known:
      return;
    case RouteAccess::asker:
      return need(!caller.is_keeper(), "cannot_ask",
                  "who keeps the machine holds duties and cannot ask or approve");
    case RouteAccess::curator:
      return need(caller.has_duty(Duty::curate), "duty_required", "the duty 'curate' is required");
    case RouteAccess::curator_socket:
      need(caller.has_duty(Duty::curate), "duty_required", "the duty 'curate' is required");
      return need(caller.curator_socket, "curator_socket_required",
                  "this is done over the curator socket alone");
    case RouteAccess::auditor:
      return need(caller.has_duty(Duty::audit), "duty_required", "the duty 'audit' is required");
    case RouteAccess::overseer:
      return need(caller.has_duty(Duty::curate) || caller.has_duty(Duty::audit), "duty_required",
                  "the duty 'curate' or 'audit' is required");
    case RouteAccess::operating:
      return need(caller.has_duty(Duty::operate), "duty_required", "the duty 'operate' is required");
    case RouteAccess::any_duty:
      return need(
          caller.has_duty(Duty::curate) || caller.has_duty(Duty::audit) || caller.has_duty(Duty::operate),
          "duty_required", "the duty 'curate', 'audit' or 'operate' is required");
  }
}

RouteMatch find_route(std::string_view method, std::string_view path) {
  const std::string_view answers_as = method == "HEAD" ? "GET" : method;
  RouteMatch found;
  for (const Route& route : routes()) {
    std::string id;
    if (!matches(route.path, path, id)) continue;
    if (route.method == answers_as) {
      found.route = &route;
      found.id = std::move(id);
    }
    found.allowed += (found.allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET") found.allowed += ", HEAD";
  }
  return found;
}

}  // namespace epsilog::serve
