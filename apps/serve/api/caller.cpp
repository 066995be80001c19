#include "caller.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ascii.hpp"
#include "problem.hpp"

namespace epsilog::serve {
namespace {

Caller declared_caller(std::shared_ptr<const AccessView> view, const engine::CredentialOwner& found,
                       const std::string& via, bool curator_socket) {
  const engine::Principal* principal = view->policy.principal(found.principal);
  if (principal == nullptr) {
    throw HttpProblem(401, "principal_not_declared",
                      "the active policy declares no principal of that name any more");
  }
  return {engine::Actor(found.principal, via), std::move(view), principal, curator_socket};
}

/// What follows "Bearer ", the only scheme.
/// Throws  HttpProblem.
std::string_view bearer_token(const std::string& authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (!equals_ignoring_case(std::string_view(authorization).substr(0, kScheme.size()), kScheme)) {
    throw HttpProblem(401, "invalid_token", "Authorization: Bearer and a token is expected");
  }
  return std::string_view(authorization).substr(kScheme.size());
}

}  // namespace

bool Caller::has_duty(engine::Duty duty) const {
  if (is_keeper()) return true;
  return std::find(principal->duties.begin(), principal->duties.end(), duty) != principal->duties.end();
}

Caller identify_caller(const RequestHead& head, const Peer& peer, CurrentView looked, std::uint32_t own_uid) {
  std::shared_ptr<const AccessView>& view = looked.view;
  const std::string& now = looked.now;
  if (const std::string* authorization = head.header("authorization")) {
    const auto found = view->credentials.by_token(bearer_token(*authorization), now);
    // One text for what is malformed, unknown, expired and revoked: which of them it is helps who guesses.
    if (!found) throw HttpProblem(401, "invalid_token", "the token is not valid");
    return declared_caller(std::move(view), *found, "token:" + found->credential, peer.curator);
  }
  const std::string via = "unix:" + std::to_string(peer.uid);
  // The curator socket is the machine's own: whoever is on it without a token is its keeper.
  if (peer.curator && (peer.uid == 0 || peer.uid == own_uid)) {
    return {engine::Actor(peer.uid == 0 ? "root" : "uid " + std::to_string(peer.uid), via), std::move(view),
            nullptr, true};
  }
  if (const auto found = view->credentials.by_uid(peer.uid, now)) {
    return declared_caller(std::move(view), *found, via, peer.curator);
  }
  throw HttpProblem(401, "unknown_caller", "no credential maps this user to a principal");
}

}  // namespace epsilog::serve
