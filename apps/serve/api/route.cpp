#include "route.hpp"

#include <utility>

namespace epsilog::serve {
namespace {

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

Found find_route(std::string_view method, std::string_view path) {
  Found found;
  for (const Route& route : routes()) {
    std::string id;
    if (!matches(route.path, path, id)) continue;
    if (route.method == method) {
      found.route = &route;
      found.id = std::move(id);
    }
    found.allowed += (found.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return found;
}

}  // namespace epsilog::serve
