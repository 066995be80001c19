// What waits, and how long: `approvals` and `reservations`.
#include <algorithm>
#include <unordered_set>

#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

/// How many of the declared principals may approve, each counted once.
std::uint64_t approvers(const Approvals& approvals, const std::vector<Principal>& principals) {
  const std::unordered_set<std::string_view> named(approvals.principals.begin(), approvals.principals.end());
  const std::unordered_set<std::string_view> of_role(approvals.roles.begin(), approvals.roles.end());
  return static_cast<std::uint64_t>(
      std::count_if(principals.begin(), principals.end(), [&](const Principal& principal) {
        return named.contains(principal.name) ||
               std::any_of(principal.roles.begin(), principal.roles.end(),
                           [&](const std::string& role) { return of_role.contains(role); });
      }));
}

/// Whether the approvers could be read.
bool decode_approvers(const Node& node, const Mark& owner, const Askers& askers, Approvals& approvals,
                      Faults& faults) {
  const std::size_t faults_before = faults.size();
  const Fields fields(node, keys::approvers, "approvals.by", owner, faults);
  if (node.kind != Node::Kind::map) return false;
  if (fields.lacks("principals") && fields.lacks("roles")) {
    faults.add(owner, "approvals.by: say who may approve: {principals: [NAME]} or {roles: [NAME]}");
  }
  if (const Node* principals = fields["principals"]) {
    approvals.principals = principals_of(*principals, fields.path("principals"), askers, faults);
  }
  if (const Node* roles = fields["roles"]) {
    approvals.roles = roles_of(*roles, fields.path("roles"), askers, faults);
  }
  return askers.readable && faults.size() == faults_before;
}

void check_enough(const Approvals& approvals, const Askers& askers, const Mark& mark, Faults& faults) {
  const std::uint64_t count = approvers(approvals, *askers.principals);
  if (count >= approvals.required) return;
  faults.add(mark, "approvals.required: " + std::to_string(approvals.required) + " must agree, and only " +
                       std::to_string(count) +
                       " of the declared principals may; lower it, or name more under by");
}

}  // namespace

std::optional<Approvals> decode_approvals(const Node& node, const Mark& owner, const Askers& askers,
                                          Faults& faults) {
  const Fields fields(node, keys::approvals, "approvals", owner, faults);
  if (node.kind != Node::Kind::map) return std::nullopt;
  Approvals approvals;
  approvals.mark = owner;
  const Node* required = fields["required"];
  const auto count = required != nullptr ? count_of(*required, "approvals.required", faults) : std::nullopt;
  approvals.required = count.value_or(1);
  if (const Node* by = fields["by"]) {
    const bool readable = decode_approvers(*by, fields.mark_of("by"), askers, approvals, faults);
    if (readable && count) check_enough(approvals, askers, required->mark, faults);
  }
  if (const Node* above = fields["above"]) {
    const Fields threshold(*above, keys::above, "approvals.above", fields.mark_of("above"), faults);
    if (above->kind == Node::Kind::map) approvals.above = decode_cap(threshold, faults);
    if (const Node* within = threshold["within"]) {
      approvals.within_seconds = duration_of(*within, "approvals.above.within", faults).value_or(0);
    }
  }
  if (const Node* expires = fields["expires"]) {
    approvals.expires_seconds =
        duration_of(*expires, "approvals.expires", faults).value_or(approvals.expires_seconds);
  }
  return approvals;
}

void decode_reservations(const Node& node, const Mark& owner, Dataset& dataset, Faults& faults) {
  const Fields fields(node, keys::reservations, "reservations", owner, faults);
  if (const Node* expires = fields["expires"]) {
    dataset.reservation_seconds =
        duration_of(*expires, "reservations.expires", faults).value_or(dataset.reservation_seconds);
  }
}

}  // namespace epsilog::engine
