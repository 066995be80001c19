#include "request_family.hpp"

#include <algorithm>

#include "canonical_request.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "request_act.hpp"

namespace epsilog::engine {
namespace {

using ledger::Outcome;
using ledger::StoredDecision;

template <class Reader>
std::optional<StoredDecision> root_of(Reader& reader, std::optional<StoredDecision> stored) {
  while (stored && !stored->draft.parent.empty()) {
    auto parent = reader.find_by_id(stored->draft.parent);
    if (!parent) throw ledger::UnreadableRow("decision " + stored->id + " is about one that is not there");
    // Ids ascend, so that this ends even in a ledger that was tampered with.
    if (parent->id >= stored->id) {
      throw ledger::UnreadableRow("decision " + stored->id + " is about a later one");
    }
    stored = std::move(parent);
  }
  return stored;
}

/// Adds what is about the open decision; an approved request goes on with its reservation.
template <class Reader>
void add_children(Reader& reader, const std::string& id, RequestFamily& family) {
  for (StoredDecision& child : reader.children(id)) {
    switch (child.draft.outcome) {
      case Outcome::approved:
        family.approvals.push_back(std::move(child));
        break;
      case Outcome::data_accessed:
        family.token = std::move(child);
        break;
      case Outcome::reserved:
        family.reservation = std::move(child);
        break;
      case Outcome::granted:
      case Outcome::refused:
      case Outcome::rejected:
      case Outcome::voided:
      case Outcome::forfeited:
        family.end = std::move(child);
        break;
      case Outcome::pending:
        throw ledger::UnreadableRow("decision " + child.id + " waits for approvals and is about another one");
    }
  }
}

template <class Reader>
std::optional<RequestFamily> read_family(Reader& reader, const std::string& id) {
  auto root = root_of(reader, reader.find_by_id(id));
  if (!root) return std::nullopt;
  const Outcome outcome = root->draft.outcome;
  if (outcome != Outcome::pending && outcome != Outcome::reserved) return std::nullopt;
  if (root->draft.principal.empty() || root->draft.dataset.empty()) {
    throw ledger::UnreadableRow("decision " + root->id + " does not say who asked, or of what");
  }
  RequestFamily family{std::move(*root), std::nullopt};
  add_children(reader, family.root.id, family);
  if (family.reservation) {
    add_children(reader, family.reservation->id, family);
  } else if (outcome == Outcome::reserved) {
    family.reservation = family.root;
  }
  return family;
}

}  // namespace

std::int64_t RequestFamily::newest() const {
  std::int64_t seq = root.seq;
  for (const std::optional<StoredDecision>* one : {&reservation, &token, &end}) {
    if (*one) seq = std::max(seq, (*one)->seq);
  }
  for (const StoredDecision& approval : approvals) seq = std::max(seq, approval.seq);
  return seq;
}

std::string tag_of(const RequestFamily& family, std::int64_t active_version) {
  return std::to_string(family.newest()) + "." + std::to_string(active_version);
}

StoredDecision root_decision(ledger::Snapshot& view, const StoredDecision& stored) {
  return *root_of(view, std::optional(stored));
}

std::int64_t planning_version(const StoredDecision& reservation) {
  return reservation.decided_under != 0 ? reservation.decided_under : reservation.draft.policy_version;
}

RequestState state_of(const StoredDecision& stored) {
  switch (stored.draft.outcome) {
    case Outcome::granted:
      return RequestState::granted;
    case Outcome::refused:
      return RequestState::refused;
    case Outcome::pending:
      return RequestState::pending;
    case Outcome::reserved:
      return RequestState::reserved;
    case Outcome::approved:
      return RequestState::approved;
    case Outcome::rejected:
      return RequestState::rejected;
    case Outcome::data_accessed:
      return RequestState::data_accessed;
    case Outcome::voided:
      return parse_act(stored.draft.request).verb == Act::Verb::cancel ? RequestState::cancelled
                                                                       : RequestState::expired;
    case Outcome::forfeited:
      return RequestState::forfeited;
  }
  EPSILOG_INVARIANT(false);
}

const StoredDecision& RequestFamily::current_decision() const {
  const RequestState stands = state();
  return stands == RequestState::granted || stands == RequestState::refused ? *end : holder();
}

RequestState RequestFamily::state() const {
  return state_of(end ? *end : holder());
}

namespace {

template <class Of>
bool all_of_family(const RequestFamily& family, const Of& holds) {
  const auto part_holds = [&](const std::optional<StoredDecision>& part) { return !part || holds(*part); };
  return holds(family.root) && part_holds(family.reservation) && part_holds(family.token) &&
         part_holds(family.end) && std::all_of(family.approvals.begin(), family.approvals.end(), holds);
}

}  // namespace

bool RequestFamily::durable() const {
  return all_of_family(*this, [](const StoredDecision& part) { return part.durable; });
}

bool RequestFamily::replica_behind() const {
  return !durable() &&
         all_of_family(*this, [](const StoredDecision& part) { return part.durable || !part.in_replica; });
}

bool RequestFamily::approved_by(const std::string& who) const {
  return std::any_of(approvals.begin(), approvals.end(),
                     [&who](const StoredDecision& approval) { return approval.draft.principal == who; });
}

Request RequestFamily::request() const {
  Request request = parse_stored_request(root.draft.request).request;
  if (request.unread) throw LedgerCorrupt("decision " + root.id + " waits, and asks nothing");
  request.principal = root.draft.principal;
  request.key = root.draft.key;
  return request;
}

std::optional<RequestFamily> family_of(ledger::Snapshot& view, const std::string& id) {
  return read_family(view, id);
}

std::optional<RequestFamily> family_of(ledger::Transaction& transaction, const std::string& id) {
  return read_family(transaction, id);
}

}  // namespace epsilog::engine
