// The routes of the API: one table, from which requests are told apart and which the documents are held to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "caller.hpp"
#include "message.hpp"

namespace epsilog::serve {

struct Call;

/// Who may use a route at all. What they see there is another matter (visibility.hpp).
enum class RouteAccess {
  everybody,       ///< whoever reaches the socket, known or not
  known,           ///< principals and the keeper
  asker,           ///< principals: the keeper cannot ask
  curator,         ///< duty curate
  curator_socket,  ///< duty curate, and over the curator socket alone
  auditor,         ///< duty audit
  overseer,        ///< duty curate or audit
  operating,       ///< duty operate
  any_duty,        ///< any duty
};

/// The largest body in bytes; 0: none is taken. A body that is read by the route itself has no limit here.
inline constexpr std::size_t kBodyBytesMax = 64 * 1024;
inline constexpr std::size_t kPolicyBodyBytesMax = 512 * 1024;
inline constexpr std::size_t kBatchBodyBytesMax = 1024 * 1024;

/// Whether answering it takes processor time and changes nothing: then it is charged to the caller, and ends
/// when nobody waits for it any more (computing.hpp).
enum class Effort { none, computes };

struct Route {
  std::string_view method;
  std::string_view path;  ///< "/v1/requests/{id}/approve"
  RouteAccess access;
  bool takes_body;                           ///< JSON
  std::vector<std::string_view> parameters;  ///< of the query; others are refused
  Response (*answer)(Call& call);
  Effort effort = Effort::none;
};

/// Throws  HttpProblem (403): the route is not for the caller.
void require_access(const Route& route, const Caller& caller);

/// The routes of each part, in the order of the documents.
[[nodiscard]] std::vector<Route> asking_routes();
[[nodiscard]] std::vector<Route> request_routes();
[[nodiscard]] std::vector<Route> reading_routes();
[[nodiscard]] std::vector<Route> policy_routes();
[[nodiscard]] std::vector<Route> evidence_routes();
[[nodiscard]] std::vector<Route> audit_routes();
[[nodiscard]] std::vector<Route> operating_routes();

/// All of them.
[[nodiscard]] const std::vector<Route>& routes();

/// The route of a request and what stands for {id}. HEAD has the route of GET, and is answered the same: its
/// body is not sent (response_text.hpp).
struct RouteMatch {
  const Route* route = nullptr;  ///< nullptr: there is none of that path, or of that method
  std::string id;
  std::string allowed;  ///< methods of that path, "GET, HEAD, POST"; "" if there is none of that path
};
[[nodiscard]] RouteMatch find_route(std::string_view method, std::string_view path);

}  // namespace epsilog::serve
